/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/wire.h"

struct known_format {
	enum wire_format format;
	unsigned first, last; /* minor versions of the releases that write it; 0 = none */
	const char *header;   /* without trailing zeros */
	const char *name;
};

/* The runtimes' headers: Go 1.26 src/internal/trace/version; for v0 the runtime of early 2015. */
static const struct known_format formats[] = {
	{WIRE_V0, 0, 0, "gotrace", "v0"},
	{WIRE_GO15, 5, 6, "go 1.5 trace", "1.5"},
	{WIRE_GO17, 7, 7, "go 1.7 trace", "1.7"},
	{WIRE_GO18, 8, 8, "go 1.8 trace", "1.8"},
	{WIRE_GO19, 9, 9, "go 1.9 trace", "1.9"},
	{WIRE_GO110, 10, 10, "go 1.10 trace", "1.10"},
	{WIRE_GO111, 11, 18, "go 1.11 trace", "1.11"},
	{WIRE_GO119, 19, 20, "go 1.19 trace", "1.19"},
	{WIRE_GO121, 21, 21, "go 1.21 trace", "1.21"},
	{WIRE_GO122, 22, 22, "go 1.22 trace", "1.22"},
	{WIRE_GO123, 23, 24, "go 1.23 trace", "1.23"},
	{WIRE_GO125, 25, 25, "go 1.25 trace", "1.25"},
	{WIRE_GO126, 26, 27, "go 1.26 trace", "1.26"},
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const struct known_format *format_find(enum wire_format format)
{
	for (int i = 0; i < FORMATS; i++)
		if (formats[i].format == format)
			return &formats[i];
	return NULL;
}

const char *wire_format_header(enum wire_format format)
{
	const struct known_format *known = format_find(format);

	return known ? known->header : NULL;
}

const char *wire_format_name(enum wire_format format)
{
	const struct known_format *known = format_find(format);

	return known ? known->name : "?";
}

static enum wire_format written_by(unsigned minor)
{
	for (int i = 0; i < FORMATS; i++)
		if (minor >= formats[i].first && minor <= formats[i].last && formats[i].first)
			return formats[i].format;
	return WIRE_NONE;
}

enum wire_format wire_format_parse(const char *text)
{
	if (strcmp(text, "v0") == 0)
		return WIRE_V0;
	if (strncmp(text, "go", 2) == 0)
		text += text[2] == ' ' ? 3 : 2;
	if (strncmp(text, "1.", 2) != 0)
		return WIRE_NONE;
	text += 2;
	/* One digit 1-9, or two digits without a leading 0. */
	if (!isdigit((unsigned char)text[0]) || text[0] == '0')
		return WIRE_NONE;
	if (text[1] != '\0' && (!isdigit((unsigned char)text[1]) || text[2] != '\0'))
		return WIRE_NONE;
	return written_by((unsigned)strtoul(text, NULL, 10));
}

enum wire_format wire_format_of_release(unsigned go_minor)
{
	if (go_minor == 4)
		return WIRE_GO111;
	return go_minor > WIRE_GO126 ? WIRE_GO126 : written_by(go_minor);
}
