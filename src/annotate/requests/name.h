/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The name of a request, such as "GET /items/{id}", from texts of the program, which may hold any bytes. */
#ifndef GOTRACE_ANNOTATE_REQUESTS_NAME_H
#define GOTRACE_ANNOTATE_REQUESTS_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "rawlog/values.h"

#define REQUEST_NAME 96u /* bytes, including the NUL */

/* A text that grows up to its limit: a name, or a part of one. */
struct request_text {
	char text[REQUEST_NAME];
	size_t len;
	bool cut;
};

void request_text_add(struct request_text *to, const char *text);
/*
 * Adds a text of the program. White space is collapsed to one space, an unprintable character becomes "?",
 * and what does not fit is replaced by an ellipsis. A value that is NULL or unreadable is shown as "?".
 */
void request_text_put(struct request_text *to, const struct value *value);

/*
 * Puts a pattern that a router matched, without the method that it may begin with, in place of a path. A
 * router inside an outer one, of which `route` has the pattern already, adds its own; is_part: that is
 * certainly without what the outer one matched. Otherwise it may contain the outer one's pattern or be
 * contained in it.
 */
void request_route_put(struct request_text *route, const struct value *value);
void request_route_add(struct request_text *route, const struct value *value, bool is_part);

#endif
