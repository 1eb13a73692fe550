/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/utf8.h"

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list args;
	int len;

	if (!err)
		return -code;
	va_start(args, fmt);
	len = vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	if (len < 0)
		err->text[0] = '\0';
	else if ((size_t)len >= sizeof(err->text))
		err->text[text_whole(err->text, sizeof(err->text) - 1)] = '\0';
	text_make_printable(err->text); /* names from targets and files appear in messages */
	return -code;
}
