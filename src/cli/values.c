/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/values.h"

#include "cli/find_process.h"
#include "pipeline/pipeline.h"
#include "workers/summary/style.h"
#include "util/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { MOST_NAMED_PIDS = 5 };

struct value_unit {
	const char *name;
	uint64_t factor;
};

/* Reads digits, but no sign or blanks, which strtoull accepts. Sets *end to what follows. */
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

/* Reads a number with one of the units. Returns false if it is not one, or overflows. */
static bool read_with_unit(const char *text, const struct value_unit *units, size_t n, uint64_t *value)
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

/* Reads digits after a decimal point as parts of the unit: "25" of 1000 is 250. At most nine digits. */
static bool read_fraction(const char *digits, uint64_t unit, uint64_t *part)
{
	uint64_t value, scale = 1;
	const char *end;

	if (!read_number(digits, &value, &end) || end - digits > 9)
		return false;
	for (const char *at = digits; at < end; at++)
		scale *= 10;
	*part = unit / scale * value + unit % scale * value / scale;
	return true;
}

/* As read_with_unit(), with an optional decimal fraction. */
static bool read_decimal(const char *text, const struct value_unit *units, size_t n, uint64_t *value)
{
	const char *end, *digits = NULL;
	uint64_t part = 0;

	if (!read_number(text, value, &end))
		return false;
	if (*end == '.') {
		digits = end + 1;
		end = digits + strspn(digits, "0123456789");
	}
	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(end, units[i].name))
			continue;
		if (digits && !read_fraction(digits, units[i].factor, &part))
			return false;
		return !__builtin_mul_overflow(*value, units[i].factor, value) &&
		       !__builtin_add_overflow(*value, part, value);
	}
	return false;
}

int parse_duration(const char *option, const char *text, uint64_t *ns, struct error *err)
{
	static const struct value_unit units[] = {
		{"ms", 1000000ull},        {"s", 1000000000ull},        {"", 1000000000ull},
		{"m", 60 * 1000000000ull}, {"h", 3600 * 1000000000ull},
	};
	const uint64_t min = 1000000ull, max = 1000 * 3600 * 1000000000ull;

	if (!read_decimal(text, units, sizeof(units) / sizeof(units[0]), ns))
		return error_set(err, EINVAL, "%s '%s' is not a duration (examples: 500ms, 1.5s, 2m)", option,
				 text);
	if (*ns < min || *ns > max)
		return error_set(err, EINVAL, "%s '%s' is out of range (1ms to 1000h)", option, text);
	return 0;
}

int parse_os_regions(const char *option, const char *text, uint64_t *ns, struct error *err)
{
	if (strcmp(text, "none") != 0)
		return parse_duration(option, text, ns, err);
	*ns = OFF_CPU_NO_REGIONS;
	return 0;
}

int parse_os(const char *option, const char *text, struct os_detail *os, uint64_t *regions_ns,
	     struct error *err)
{
	static const char all[] = "all,";
	const char *regions = text;
	struct os_detail parsed = {0};
	uint64_t ns = 0;

	if (strcmp(text, "off") == 0) {
		*os = (struct os_detail){.off = true};
		*regions_ns = 0;
		return 0;
	}
	parsed.cpus = strcmp(text, "all") == 0 || strncmp(text, all, sizeof(all) - 1) == 0;
	if (parsed.cpus)
		regions += strlen("all") + (text[strlen("all")] == ',');
	if (strcmp(regions, "summary") == 0)
		ns = OFF_CPU_NO_REGIONS;
	else if (strcmp(text, "all") != 0 && parse_duration(option, regions, &ns, NULL))
		return error_set(err, EINVAL,
				 "%s: '%.*s' is not off, summary, a time (1ms or more), or all (all,5ms)",
				 option, text_fit(text, 40), text);
	*os = parsed;
	*regions_ns = ns;
	return 0;
}

int parse_detail(const char *option, const char *text, enum record_detail *detail, struct error *err)
{
	static const char *const names[] = {[DETAIL_AUTO] = "auto",
					    [DETAIL_EXACT] = "exact",
					    [DETAIL_LIGHT] = "light",
					    [DETAIL_STARTS] = "starts"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*detail = i;
			return 0;
		}
	}
	return error_set(err, EINVAL, "%s: '%.*s' is not exact, auto, light or starts", option,
			 text_fit(text, 40), text);
}

int parse_size(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *bytes,
	       struct error *err)
{
	static const struct value_unit units[] = {
		{"", 1},
		{"k", 1ull << 10},
		{"M", 1ull << 20},
		{"G", 1ull << 30},
	};

	if (!read_with_unit(text, units, sizeof(units) / sizeof(units[0]), bytes))
		return error_set(err, EINVAL, "%s '%s' is not a size (examples: 65536, 512k, 10M, 2G)",
				 option, text);
	if (*bytes < min || *bytes > max)
		return error_set(err, EINVAL, "%s '%s' is out of range (%llu to %llu bytes)", option, text,
				 (unsigned long long)min, (unsigned long long)max);
	return 0;
}

/* Names the processes that the user may have meant by a name. */
static int refuse_pid(const char *option, const char *text, struct error *err)
{
	const struct process_filter filter = {.comm = text};
	struct found_process found[MAX_FOUND];
	struct error ignored;
	char pids[80] = "";
	int n = *text ? find_processes(&filter, found, &ignored) : 0;
	size_t len = 0;

	for (int i = 0; i < n && i < MOST_NAMED_PIDS; i++)
		len += (size_t)snprintf(pids + len, sizeof(pids) - len, "%s%d", i ? ", " : "",
					(int)found[i].pid);
	if (n <= 0)
		return error_set(err, EINVAL, "%s '%s' is not a process ID", option, text);
	return error_set(err, EINVAL, "%s '%s' is not a process ID; processes of that name: %s%s", option,
			 text, pids, n > MOST_NAMED_PIDS ? ", ..." : "");
}

int parse_pid(const char *option, const char *text, pid_t *pid, struct error *err)
{
	const char *end;
	uint64_t value;

	if (!read_number(text, &value, &end) || *end || value == 0 || value > INT_MAX)
		return refuse_pid(option, text, err);
	*pid = (pid_t)value;
	return 0;
}

int parse_user(const char *option, const char *text, uid_t *uid, struct error *err)
{
	const struct passwd *user;
	bool found = false;
	const char *end;
	uint64_t value;
	FILE *users;

	/* The greatest number stands for "no id". */
	if (read_number(text, &value, &end) && !*end && value < UINT32_MAX) {
		*uid = (uid_t)value;
		return 0;
	}
	users = fopen("/etc/passwd", "re");
	while (users && !found && (user = fgetpwent(users))) {
		found = strcmp(user->pw_name, text) == 0;
		*uid = user->pw_uid;
	}
	if (users)
		fclose(users);
	return found ? 0
		     : error_set(err, EINVAL,
				 "%s: there is no user '%s' in /etc/passwd: give the user's number", option,
				 text);
}

/* "10" or "10%", from 1 to 1000. */
static int parse_percent(const char *option, const char *text, unsigned *percent, struct error *err)
{
	static const struct value_unit units[] = {{"", 1}, {"%", 1}};
	uint64_t value;

	if (!read_with_unit(text, units, sizeof(units) / sizeof(units[0]), &value) || value < 1 ||
	    value > 1000)
		return error_set(err, EINVAL, "%s '%s' is not a percentage (1 to 1000)", option, text);
	*percent = (unsigned)value;
	return 0;
}

int parse_rate(const char *option, const char *text, unsigned max, unsigned *hz, struct error *err)
{
	static const struct value_unit units[] = {{"", 1}, {"Hz", 1}};
	uint64_t value;

	if (!read_with_unit(text, units, sizeof(units) / sizeof(units[0]), &value) || value > max)
		return error_set(err, EINVAL, "%s '%s' is not a rate (0 to %u per second)", option, text,
				 max);
	*hz = (unsigned)value;
	return 0;
}

int parse_format(const char *option, const char *text, enum wire_format *format, struct error *err)
{
	*format = wire_format_parse(text);
	if (*format == WIRE_NONE)
		return error_set(err, EINVAL,
				 "%s '%s' is not a format that gotrace writes (" FORMATS_OF_GO ")", option,
				 text);
	return 0;
}

int parse_overhead(const char *text, unsigned *percent, struct error *err)
{
	if (strcmp(text, "none") == 0) {
		*percent = OVERHEAD_NONE;
		return 0;
	}
	return parse_percent("--max-overhead", text, percent, err);
}

int parse_buffer(const char *text, size_t *bytes, struct error *err)
{
	uint64_t size;
	int rc = parse_size("--buffer", text, 1u << 20, 1u << 30, &size, err);

	if (rc == 0)
		*bytes = (size_t)size;
	return rc;
}

int parse_time(const char *option, const char *text, uint64_t *ns, struct error *err)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double value = digits ? strtod(text, &end) : -1;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && value >= 0 && end == text + digits; i++) {
		if (strcmp(end, units[i].name) == 0 && value * units[i].ns < 1e18) {
			*ns = (uint64_t)(value * units[i].ns + 0.5);
			return 0;
		}
	}
	return error_set(err, EINVAL, "%s: %.*s is not a time (examples: 1.5s, 300ms, 20us, 800ns)", option,
			 text_fit(text, 40), text);
}

/* The digits after a point, as ns; digits beyond them are dropped. Advances *text beyond all. */
static uint64_t parse_fraction(const char **text)
{
	uint64_t ns = 0, unit = 100000000;

	if (**text != '.')
		return 0;
	for ((*text)++; **text >= '0' && **text <= '9'; (*text)++) {
		ns += (uint64_t)(**text - '0') * unit;
		unit /= 10;
	}
	return ns;
}

/* Seconds east of UTC: "Z", "+01:00". Returns false for anything else. */
static bool parse_zone(const char *text, int *seconds)
{
	int hours, minutes, n = 0;

	*seconds = 0;
	if ((text[0] == 'Z' || text[0] == 'z') && !text[1])
		return true;
	if ((text[0] != '+' && text[0] != '-') || sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &n) != 2 ||
	    n != 5 || text[1 + n] || hours > 23 || minutes > 59)
		return false;
	*seconds = (hours * 60 + minutes) * (text[0] == '-' ? -60 : 60);
	return true;
}

/* RFC 3339. */
static bool parse_date(const char *text, uint64_t *ns)
{
	struct tm tm = {0};
	int n = 0, zone, day;
	bool leap;
	int64_t sec;
	uint64_t fraction;

	if (strspn(text, "0123456789") != 4 ||
	    sscanf(text, "%4d-%2d-%2d%*1[Tt ]%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &n) != 6 ||
	    n != 19 || tm.tm_year < 1970 || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 ||
	    tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
		return false;
	text += n;
	fraction = parse_fraction(&text);
	if (!parse_zone(text, &zone))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	day = tm.tm_mday;
	leap = tm.tm_sec == 60;
	sec = (int64_t)timegm(&tm) - zone;
	/* timegm() makes 3 March of 31 February. */
	if ((tm.tm_mday != day && !leap) || sec < 0 || sec > INT64_MAX / 1000000000 - 1)
		return false;
	*ns = (uint64_t)sec * 1000000000 + fraction;
	return true;
}

static bool parse_epoch(const char *text, uint64_t *ns)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t sec;

	if (!digits || digits > 10)
		return false;
	sec = strtoull(text, NULL, 10);
	text += digits;
	if (sec > INT64_MAX / 1000000000 - 1)
		return false;
	*ns = sec * 1000000000 + parse_fraction(&text);
	return !*text;
}

int parse_wall_time(const char *option, const char *text, uint64_t *ns, struct error *err)
{
	if (text[0] == '@' ? parse_epoch(text + 1, ns) : parse_date(text, ns))
		return 0;
	return error_set(
		err, EINVAL,
		"%s: %.*s is not a wall-clock time (examples: 2026-11-26T21:05:00.25Z, @1795727100.25)",
		option, text_fit(text, 40), text);
}

int parse_moment(const char *option, const char *text, struct moment *moment, struct error *err)
{
	moment->is_wall = text[0] == '@' || strpbrk(text, "-:");
	return moment->is_wall ? parse_wall_time(option, text, &moment->ns, err)
			       : parse_time(option, text, &moment->ns, err);
}

int parse_id(const char *option, const char *text, uint64_t *id, struct error *err)
{
	char *end = NULL;

	errno = 0;
	*id = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	if (!*id || errno || *end)
		return error_set(err, EINVAL, "%s: %.*s is not a whole number above 0", option,
				 text_fit(text, 40), text);
	return 0;
}

int parse_sort(const char *text, uint8_t *sort, struct error *err)
{
	if (!summary_sort_parse(text, sort))
		return error_set(err, EINVAL, "--sort: '%s' is not running, runnable, blocked or count",
				 text);
	return 0;
}
