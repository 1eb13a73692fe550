/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/values.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

/* Reads digits (no sign, no blanks, which strtoull would take); *end is what follows them. */
static bool read_number(const char *text, uint64_t *value, const char **end)
{
	char *stop;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &stop, 10);
	*end = stop;
	return errno == 0;
}

/* A number with one of the units, multiplied out; false if it is none or overflows. */
static bool read_with_unit(const char *text, const struct unit *units, size_t n, uint64_t *value)
{
	const char *end;

	if (!read_number(text, value, &end))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(end, units[i].name) == 0)
			return !__builtin_mul_overflow(*value, units[i].factor, value);
	}
	return false;
}

int parse_duration(const char *option, const char *text, uint64_t *ns, struct error *err)
{
	static const struct unit units[] = {
		{"ms", 1000000ull},        {"s", 1000000000ull},        {"", 1000000000ull},
		{"m", 60 * 1000000000ull}, {"h", 3600 * 1000000000ull},
	};
	const uint64_t min = 1000000ull, max = 1000 * 3600 * 1000000000ull;

	if (!read_with_unit(text, units, sizeof(units) / sizeof(units[0]), ns))
		return error_set(err, EINVAL, "%s '%s' is no duration (examples: 500ms, 5s, 2m)", option,
				 text);
	if (*ns < min || *ns > max)
		return error_set(err, EINVAL, "%s '%s' is out of range (1ms to 1000h)", option, text);
	return 0;
}

int parse_size(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *bytes,
	       struct error *err)
{
	static const struct unit units[] = {
		{"", 1},
		{"k", 1ull << 10},
		{"M", 1ull << 20},
		{"G", 1ull << 30},
	};

	if (!read_with_unit(text, units, sizeof(units) / sizeof(units[0]), bytes))
		return error_set(err, EINVAL, "%s '%s' is no size (examples: 65536, 512k, 10M, 2G)", option,
				 text);
	if (*bytes < min || *bytes > max)
		return error_set(err, EINVAL, "%s '%s' is out of range (%llu to %llu bytes)", option, text,
				 (unsigned long long)min, (unsigned long long)max);
	return 0;
}

int parse_pid(const char *option, const char *text, pid_t *pid, struct error *err)
{
	const char *end;
	uint64_t value;

	if (!read_number(text, &value, &end) || *end || value == 0 || value > INT_MAX)
		return error_set(err, EINVAL, "%s '%s' is no process id", option, text);
	*pid = (pid_t)value;
	return 0;
}

int parse_percent(const char *option, const char *text, unsigned *percent, struct error *err)
{
	static const struct unit units[] = {{"", 1}, {"%", 1}};
	uint64_t value;

	if (!read_with_unit(text, units, sizeof(units) / sizeof(units[0]), &value) || value < 1 ||
	    value > 1000)
		return error_set(err, EINVAL, "%s '%s' is no percentage (1 to 1000)", option, text);
	*percent = (unsigned)value;
	return 0;
}

int parse_rate(const char *option, const char *text, unsigned max, unsigned *hz, struct error *err)
{
	static const struct unit units[] = {{"", 1}, {"Hz", 1}};
	uint64_t value;

	if (!read_with_unit(text, units, sizeof(units) / sizeof(units[0]), &value) || value > max)
		return error_set(err, EINVAL, "%s '%s' is no rate (0 to %u a second)", option, text, max);
	*hz = (unsigned)value;
	return 0;
}

int parse_format(const char *option, const char *text, enum wire_format *format, struct error *err)
{
	*format = wire_format_parse(text);
	if (*format == WIRE_NONE)
		return error_set(err, EINVAL,
				 "%s '%s' is no format gotrace writes (v0, 1.5, 1.7, 1.8, 1.9, 1.10, 1.11, "
				 "1.19, 1.21, "
				 "1.22, 1.23, 1.25, 1.26)",
				 option, text);
	return 0;
}
