/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Untrusted text, character by character: names and paths of processes may contain any bytes. */
#ifndef GOTRACE_UTIL_UTF8_H
#define GOTRACE_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Decodes the first character of s, which has n > 0 bytes: returns its code point and stores its length in
 * *len. A malformed byte is returned as 0xfffd with length 1.
 */
uint32_t text_next(const char *s, size_t n, size_t *len);
/*
 * For a text that is cut: returns the length of the first len bytes without an incomplete character at their
 * end. A malformed byte is no incomplete character, and stays.
 */
size_t text_whole(const char *s, size_t len);
/* The same where the beginning is cut: returns where the last `most` bytes of a text begin, or a character in
 * them. */
size_t text_tail(const char *s, size_t len, size_t most);
/* For "%.*s": returns how many bytes of a text to print, at most `most`, so that it is cut between
 * characters. */
int text_fit(const char *text, size_t most);
/* Whether the character is neither a terminal control nor a change of text direction. */
bool text_is_printable(uint32_t point);
/* Replaces all unprintable characters, including newlines, with question marks. The text never grows. */
void text_make_printable(char *text);
void text_put(FILE *out, const char *text);

#endif
