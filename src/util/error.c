/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/utf8.h"

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return -code;
	va_start(args, fmt);
	if (vsnprintf(err->text, sizeof(err->text), fmt, args) < 0)
		err->text[0] = '\0';
	va_end(args);
	text_make_printable(err->text); /* names from targets and files appear in messages */
	return -code;
}
