/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MALFORMED 0xfffdu

struct text text_count(uint64_t value)
{
	struct text text;
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value), at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			text.bytes[at++] = ',';
		text.bytes[at++] = digits[i];
	}
	text.bytes[at] = '\0';
	return text;
}

/* Three figures that count; the value must have been scaled to the unit. */
static struct text scaled(double value, const char *unit)
{
	struct text text;
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(text.bytes, sizeof(text.bytes), "%.*f %s", decimals, value, unit);
	return text;
}

struct text text_bytes(uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB"};
	double value = (double)bytes / 1000;
	unsigned unit = 0;
	struct text text;

	if (bytes < 1000) {
		snprintf(text.bytes, sizeof(text.bytes), "%u B", (unsigned)bytes);
		return text;
	}
	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	return scaled(value, units[unit]);
}

struct text text_time(uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	unsigned unit = 0;
	struct text text;

	if (ns < 1000) {
		snprintf(text.bytes, sizeof(text.bytes), "%u ns", (unsigned)ns);
		return text;
	}
	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	return scaled(value, units[unit]);
}

struct text text_percent(double part)
{
	struct text text;

	snprintf(text.bytes, sizeof(text.bytes), "%.1f %%", part * 100);
	return text;
}

static bool is_continuation(const char *s, size_t n, size_t at)
{
	return at < n && ((unsigned char)s[at] & 0xc0) == 0x80;
}

/* Length and lowest code point by the first byte; 0 if it can be none. */
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

/* C0 and C1 controls command a terminal; the others here turn the direction of writing. */
bool text_is_printable(uint32_t point)
{
	if (point < 0x20 || (point >= 0x7f && point < 0xa0) || point == MALFORMED)
		return false;
	return !(point >= 0x200b && point <= 0x200f) && !(point >= 0x2028 && point <= 0x202e) &&
	       !(point >= 0x2060 && point <= 0x206f) && point != 0xfeff;
}

static size_t count_characters(const char *s, size_t n)
{
	size_t count = 0, len;

	for (size_t at = 0; at < n; at += len, count++)
		text_next(s + at, n - at, &len);
	return count;
}

/* The end of a Go name tells more than its package path. */
struct text text_name(const char *name, size_t len, unsigned width)
{
	size_t count = count_characters(name, len), skip = 0, step, out = 0;
	struct text text = {""};

	if (count > width) {
		skip = count - width + (width > 2 ? 2 : width);
		memcpy(text.bytes, "..", 2);
		out = width > 2 ? 2 : width;
	}
	for (size_t at = 0; at < len; at += step) {
		uint32_t point = text_next(name + at, len - at, &step);

		if (skip > 0) {
			skip--;
			continue;
		}
		if (out + step >= sizeof(text.bytes))
			break;
		if (text_is_printable(point)) {
			memcpy(text.bytes + out, name + at, step);
			out += step;
		} else {
			text.bytes[out++] = '?';
		}
	}
	text.bytes[out] = '\0';
	return text;
}
