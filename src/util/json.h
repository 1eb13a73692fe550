/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Writes one JSON value. Strings may hold any bytes; invalid UTF-8 becomes U+FFFD. */
#ifndef GOTRACE_UTIL_JSON_H
#define GOTRACE_UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool more; /* the next member needs a comma before it */
};

/* name is NULL in arrays and at the top level. */
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *name, const char *text, size_t len);
void json_text(struct json *json, const char *name, const char *text); /* NULL = null */
void json_number(struct json *json, const char *name, uint64_t value);
void json_integer(struct json *json, const char *name, int64_t value);
void json_real(struct json *json, const char *name, double value);
void json_bool(struct json *json, const char *name, bool value);

#endif
