/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Values of a call's arguments as the text of a log event: id=17 name="foo". */
#ifndef GOTRACE_ANNOTATE_VALUES_H
#define GOTRACE_ANNOTATE_VALUES_H

#include "rawlog/values.h"
#include "util/strtab.h"

struct values_message {
	char text[TEXT_MAX]; /* printable; not NUL-terminated */
	size_t len;
};

/*
 * Writes the values of a record that rawlog_check_record() has checked. labels: VALUES_MAX string ids. Texts
 * are quoted, with escapes as in Go; a truncated text ends in an ellipsis. A value that could not be read is
 * "?", or "nil" if it lies behind a null pointer.
 */
void values_message(struct values_message *message, const struct raw_text *text, const struct strtab *strings,
		    const uint32_t labels[VALUES_MAX]);

#endif
