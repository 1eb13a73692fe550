/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/text.h"

#include <stdio.h>
#include <string.h>

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

/* Formats a value with three significant digits. It must have been scaled to the unit. */
static struct text text_scaled(double value, const char *unit)
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
	return text_scaled(value, units[unit]);
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
	return text_scaled(value, units[unit]);
}

struct text text_percent(double part)
{
	struct text text;

	snprintf(text.bytes, sizeof(text.bytes), "%.1f %%", part * 100);
	return text;
}

static size_t count_characters(const char *s, size_t n)
{
	size_t count = 0, len;

	for (size_t at = 0; at < n; at += len, count++)
		text_next(s + at, n - at, &len);
	return count;
}

/* Cuts at the front: the end of a Go name says more than its package path. */
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

struct text text_column(const char *name, size_t len, unsigned width)
{
	struct text text = text_name(name, len, width);
	size_t n = strlen(text.bytes);

	for (size_t count = count_characters(text.bytes, n); count < width && n + 1 < sizeof(text.bytes);
	     count++)
		text.bytes[n++] = ' ';
	text.bytes[n] = '\0';
	return text;
}

struct text_path text_path(const char *path)
{
	struct text_path text;

	snprintf(text.bytes, sizeof(text.bytes), "%s", path);
	text_make_printable(text.bytes);
	return text;
}

bool text_is_one_of(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(text, list[i]) == 0)
			return true;
	}
	return false;
}

bool text_begins_with_one_of(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strncmp(text, list[i], strlen(list[i])) == 0)
			return true;
	}
	return false;
}

int text_hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}
