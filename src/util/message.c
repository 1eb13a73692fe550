/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/message.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/utf8.h"

static char subject[48];

void message_set_subject(const char *text)
{
	snprintf(subject, sizeof(subject), "%s: ", text);
	text_make_printable(subject);
}

/* Erases the live line, if there is a terminal. */
static const char *prefix(void)
{
	return isatty(STDERR_FILENO) ? "\r\033[Kgotrace: " : "gotrace: ";
}

FILE *message_begin(void)
{
	fprintf(stderr, "%s%s", prefix(), subject);
	return stderr;
}

/* In one write: several processes share the terminal. */
void message(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		text_make_printable(text);
	fprintf(stderr, "%s%s%s\n", prefix(), subject, text ? text : "out of memory");
	free(text);
}

void message_error(const struct error *err)
{
	message("%s", err->text);
}
