/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/utf8.h"

#include <string.h>

#define MALFORMED 0xfffdu

static bool is_continuation(const char *s, size_t n, size_t at)
{
	return at < n && ((unsigned char)s[at] & 0xc0) == 0x80;
}

/* Length and smallest code point of a sequence with this first byte; 0 if the byte cannot be the first. */
static size_t sequence_length(unsigned char first, uint32_t *lowest)
{
	if (first >= 0xc2 && first <= 0xdf) {
		*lowest = 0x80;
		return 2;
	}
	if (first >= 0xe0 && first <= 0xef) {
		*lowest = 0x800;
		return 3;
	}
	*lowest = 0x10000;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

uint32_t text_next(const char *s, size_t n, size_t *len)
{
	unsigned char first = (unsigned char)s[0];
	uint32_t lowest, point;
	size_t length;

	*len = 1;
	if (first < 0x80)
		return first;
	length = sequence_length(first, &lowest);
	if (length == 0)
		return MALFORMED;
	point = first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (!is_continuation(s, n, i))
			return MALFORMED;
		point = point << 6 | ((unsigned char)s[i] & 0x3fu);
	}
	if (point < lowest || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return MALFORMED;
	*len = length;
	return point;
}

size_t text_whole(const char *s, size_t len)
{
	size_t start = len;
	uint32_t lowest;

	while (start && len - start < 3 && is_continuation(s, len, start - 1))
		start--;
	if (!start || sequence_length((unsigned char)s[start - 1], &lowest) <= len - start + 1)
		return len;
	return start - 1;
}

size_t text_tail(const char *s, size_t len, size_t most)
{
	size_t at = len > most ? len - most : 0, first = at;

	while (at && at - first < 3 && is_continuation(s, len, at))
		at++;
	return at;
}

int text_fit(const char *text, size_t most)
{
	size_t len = strnlen(text, most + 1);

	return (int)(len > most ? text_whole(text, most) : len);
}

/*
 * C0 and C1 controls are terminal commands; the other ranges are invisible, break lines or change the text
 * direction.
 */
bool text_is_printable(uint32_t point)
{
	if (point < 0x20 || (point >= 0x7f && point < 0xa0) || point == MALFORMED)
		return false;
	return !(point >= 0x200b && point <= 0x200f) && !(point >= 0x2028 && point <= 0x202e) &&
	       !(point >= 0x2060 && point <= 0x206f) && point != 0xfeff;
}

void text_make_printable(char *text)
{
	size_t left = strlen(text), len;
	char *to = text;

	for (; left; text += len, left -= len) {
		if (text_is_printable(text_next(text, left, &len))) {
			memmove(to, text, len);
			to += len;
		} else {
			*to++ = '?';
		}
	}
	*to = '\0';
}

void text_put(FILE *out, const char *text)
{
	size_t left = strlen(text), len;

	for (; left; text += len, left -= len) {
		if (text_is_printable(text_next(text, left, &len)))
			fwrite(text, 1, len, out);
		else
			fputc('?', out);
	}
}
