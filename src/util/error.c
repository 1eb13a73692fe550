/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>

/* Names from the target end up in messages: what is no printable ASCII must not reach a terminal. */
static void make_one_line(char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == 0x7f)
			*text = '?';
	}
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return -code;
	va_start(args, fmt);
	if (vsnprintf(err->text, sizeof(err->text), fmt, args) < 0)
		err->text[0] = '\0';
	va_end(args);
	make_one_line(err->text);
	return -code;
}
