/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <ctype.h>
#include <string.h>

#include "wire/wire.h"

static enum wire_format known(unsigned number)
{
	switch (number) {
	case WIRE_GO122:
	case WIRE_GO123:
	case WIRE_GO125:
	case WIRE_GO126:
		return (enum wire_format)number;
	default:
		return WIRE_NONE;
	}
}

enum wire_format wire_format_parse(const char *text)
{
	if (strncmp(text, "go", 2) == 0)
		text += text[2] == ' ' ? 3 : 2;
	if (strncmp(text, "1.", 2) != 0)
		return WIRE_NONE;
	text += 2;
	if (!isdigit((unsigned char)text[0]) || !isdigit((unsigned char)text[1]) || text[2] != '\0')
		return WIRE_NONE;
	return known((unsigned)(text[0] - '0') * 10 + (unsigned)(text[1] - '0'));
}

enum wire_format wire_format_of_release(unsigned go_minor)
{
	if (go_minor < WIRE_GO122)
		return WIRE_NONE;
	if (go_minor > WIRE_GO126)
		return WIRE_GO126;
	if (go_minor == 24) /* 1.24 writes what 1.23 wrote */
		return WIRE_GO123;
	return known(go_minor);
}
