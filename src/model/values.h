/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Values of a call's arguments as the text of a log event: id=17 name="foo". */
#ifndef GOTRACE_MODEL_VALUES_H
#define GOTRACE_MODEL_VALUES_H

#include "rawlog/values.h"
#include "util/strtab.h"

struct values_message {
	char text[TEXT_MAX]; /* printable; no NUL at its end */
	size_t len;
};

/*
 * The record has been checked (rawlog_check_record()). labels: VALUES_MAX string ids. Texts are quoted, with
 * escapes as in Go; a text that was cut ends in an ellipsis; a value that could not be read is "?", and "nil"
 * if it lies behind a null pointer.
 */
void values_message(struct values_message *message, const struct raw_text *text, const struct strtab *strings,
		    const uint32_t labels[VALUES_MAX]);

#endif
