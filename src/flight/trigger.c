/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/trigger.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

struct word {
	const char *name;
	enum trigger_kind kind;
};

static const struct word words[] = {
	{"blocked", TRIGGER_BLOCKED},   {"runnable", TRIGGER_RUNNABLE},     {"syscall", TRIGGER_SYSCALL},
	{"gc-pause", TRIGGER_GC_PAUSE}, {"goroutines", TRIGGER_GOROUTINES},
};

struct trigger_unit {
	const char *name;
	uint64_t factor;
};

static const struct trigger_unit times[] = {{"us", 1000ull},
					    {"ms", 1000000ull},
					    {"s", 1000000000ull},
					    {"m", 60 * 1000000000ull},
					    {"h", 3600 * 1000000000ull}};
static const struct trigger_unit counts[] = {{"", 1}, {"k", 1000}, {"M", 1000000}};

/* Parses a number with a unit and nothing after it. */
static bool read_value(const char *text, const struct trigger_unit *units, size_t n, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	for (size_t i = 0; i < n && !errno; i++) {
		if (strcmp(end, units[i].name) == 0)
			return !__builtin_mul_overflow(*value, units[i].factor, value) && *value > 0;
	}
	return false;
}

static bool find_kind(const char *name, size_t len, enum trigger_kind *kind)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].name) == len && memcmp(words[i].name, name, len) == 0) {
			*kind = words[i].kind;
			return true;
		}
	}
	return false;
}

/* Parses "blocked" or "blocked:chan receive", where the part after the colon is the reason. */
static int read_name(const char *name, size_t len, struct trigger *trigger, struct error *err)
{
	const char *colon = memchr(name, ':', len);
	size_t first = colon ? (size_t)(colon - name) : len;

	if (!find_kind(name, first, &trigger->kind))
		return error_set(err, EINVAL,
				 "--on '%.*s' is not a trigger: use blocked, runnable, syscall, gc-pause, "
				 "goroutines or func NAME (example: 'blocked>50ms')",
				 text_fit(trigger->text, 100), trigger->text);
	if (!colon)
		return 0;
	if (trigger->kind != TRIGGER_BLOCKED || first + 1 == len)
		return error_set(err, EINVAL,
				 "--on '%s': only blocked takes a reason (example: 'blocked:sync>50ms')",
				 trigger->text);
	memcpy(trigger->name, colon + 1, len - first - 1);
	return 0;
}

/* Parses "func main.handle", where the part after "func" is the name. */
static bool is_function(const char *name, size_t len, struct trigger *trigger)
{
	static const char word[] = "func ";
	size_t at = sizeof(word) - 1;

	if (len <= at || memcmp(name, word, at) != 0)
		return false;
	while (at < len && name[at] == ' ')
		at++;
	trigger->kind = TRIGGER_FUNCTION;
	memcpy(trigger->name, name + at, len - at);
	return at < len;
}

int trigger_parse(const char *text, struct trigger *trigger, struct error *err)
{
	/* The last '>', because C++ function names may contain others. */
	const char *than = strrchr(text, '>'), *value = than ? than + 1 : NULL;
	size_t len = than ? (size_t)(than - text) : 0;
	bool valid, function;

	*trigger = (struct trigger){.limit = 0};
	function = strncmp(text, "func ", 5) == 0;
	if (strlen(text) >= (function ? TRIGGER_TEXT : SHORT_TRIGGER))
		return error_set(err, EINVAL, "--on: a trigger has at most %d characters",
				 (function ? TRIGGER_TEXT : SHORT_TRIGGER) - 1);
	strcpy(trigger->text, text);
	if (!than)
		return error_set(err, EINVAL, "--on '%s' has no '>' and limit (example: 'blocked>50ms')",
				 text);
	while (len && text[len - 1] == ' ')
		len--;
	while (*value == ' ')
		value++;
	if (!is_function(text, len, trigger) && read_name(text, len, trigger, err))
		return -EINVAL;
	if (trigger->kind == TRIGGER_GOROUTINES)
		valid = read_value(value, counts, sizeof(counts) / sizeof(counts[0]), &trigger->limit);
	else
		valid = read_value(value, times, sizeof(times) / sizeof(times[0]), &trigger->limit);
	if (!valid)
		return error_set(err, EINVAL, "--on '%.*s': '%.*s' is not a %s", text_fit(text, 100), text,
				 text_fit(value, 100), value,
				 trigger->kind == TRIGGER_GOROUTINES ? "number (example: 10000)"
								     : "time (examples: 500us, 50ms, 2s)");
	return 0;
}
