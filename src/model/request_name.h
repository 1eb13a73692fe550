/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a request is called: "GET /items/{id}", from texts of the program, which may hold any bytes. */
#ifndef GOTRACE_MODEL_REQUEST_NAME_H
#define GOTRACE_MODEL_REQUEST_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "rawlog/values.h"

#define REQUEST_NAME 96u /* bytes, with a NUL */

/* A text that grows up to its limit: a name, or a part of one. */
struct request_text {
	char text[REQUEST_NAME];
	size_t len;
	bool cut;
};

void request_text_add(struct request_text *to, const char *text);
/*
 * Adds a text of the program: white space becomes one space, what is not printable a question mark. What does
 * not fit is replaced by an ellipsis. NULL, or what could not be read, is "?".
 */
void request_text_put(struct request_text *to, const struct value *value);

#endif
