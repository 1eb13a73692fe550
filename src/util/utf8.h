/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Text of strangers, character by character: names and paths of processes may be any bytes. */
#ifndef GOTRACE_UTIL_UTF8_H
#define GOTRACE_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The first character of s, which has n > 0 bytes: its code point, and its
 * length in *len. A malformed one is 0xfffd of length 1.
 */
uint32_t text_next(const char *s, size_t n, size_t *len);
/* Neither commands a terminal nor turns the direction of writing. */
bool text_is_printable(uint32_t point);
/* One printable line: everything else becomes a question mark. It never gets longer. */
void text_make_printable(char *text);
void text_put(FILE *out, const char *text);

#endif
