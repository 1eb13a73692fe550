/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Text for users: numbers, and names from the target, which must not reach a terminal unchanged. */
#ifndef GOTRACE_UTIL_TEXT_H
#define GOTRACE_UTIL_TEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/utf8.h"

struct text {
	char bytes[160]; /* NUL-terminated */
};

struct text text_count(uint64_t value); /* "1,234,567" */
struct text text_bytes(uint64_t bytes); /* "12.3 MB" */
struct text text_time(uint64_t ns);     /* "1.25 ms" */
struct text text_percent(double part);  /* 0.123 -> "12.3 %" */
/* The name as printable UTF-8, at most width characters. A longer name loses its beginning. */
struct text text_name(const char *name, size_t len, unsigned width);
/* The same, with spaces after it up to this width, in characters. */
struct text text_column(const char *name, size_t len, unsigned width);
/* A complete path, made printable. */
struct text_path {
	char bytes[PATH_MAX];
};
struct text_path text_path(const char *path);
/* True if the text is one of these n. */
bool text_is_one_of(const char *text, const char *const *list, size_t n);
/* True if the text begins with one of these n. */
bool text_begins_with_one_of(const char *text, const char *const *list, size_t n);
/* The value of a hexadecimal digit, -1 if it is none. */
int text_hex_digit(char c);

#endif
