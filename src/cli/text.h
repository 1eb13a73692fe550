/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Text for people: figures, and names from the target that must not reach a terminal as they are. */
#ifndef GOTRACE_TEXT_H
#define GOTRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char bytes[160]; /* NUL-terminated */
};

struct text text_count(uint64_t value); /* "1,234,567" */
struct text text_bytes(uint64_t bytes); /* "12.3 MB" */
struct text text_time(uint64_t ns);     /* "1.25 ms" */
struct text text_percent(double part);  /* 0.123 -> "12.3 %" */
/* Printable UTF-8 only, at most width characters; what is cut is cut at the front. */
struct text text_name(const char *name, size_t len, unsigned width);
/*
 * The first character of s, which has n > 0 bytes: its code point, and its
 * length in *len. A malformed one is 0xfffd of length 1.
 */
uint32_t text_next(const char *s, size_t n, size_t *len);
/* Neither commands a terminal nor turns the direction of writing. */
bool text_is_printable(uint32_t point);

#endif
