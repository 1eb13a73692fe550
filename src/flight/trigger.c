/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/trigger.h"

#include <ctype.h>
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "util/suggest.h"
#include "util/utf8.h"

/* What a limit is given in. */
struct trigger_unit {
	const char *name;
	uint64_t factor;
};

static const struct trigger_unit times[] = {{"us", 1000},
					    {"ms", 1000000},
					    {"s", 1000000000},
					    {"m", 60 * 1000000000ull},
					    {"h", 3600 * 1000000000ull},
					    {NULL, 0}};
static const struct trigger_unit counts[] = {{"", 1}, {"k", 1000}, {"M", 1000000}, {NULL, 0}};
static const struct trigger_unit sizes[] = {
	{"", 1}, {"K", 1ull << 10}, {"M", 1ull << 20}, {"G", 1ull << 30}, {NULL, 0}};
static const struct trigger_unit percents[] = {{"%", 1}, {NULL, 0}};

struct measure {
	const char *name, *examples;
	const struct trigger_unit *units; /* NULL: a level of findings */
};

static const struct measure a_time = {"time", "examples: 500us, 50ms, 2s", times};
static const struct measure a_number = {"number", "example: 10000", counts};
static const struct measure a_size = {"size", "examples: 500M, 2G", sizes};
static const struct measure a_percentage = {"percentage", "examples: 80%, 150%", percents};
static const struct measure a_level = {"level", "low, medium or high", NULL};

struct word {
	const char *name;
	enum trigger_kind kind;
	const struct measure *measure;
	bool go_only;
};

static const struct word words[] = {
	{"blocked", TRIGGER_BLOCKED, &a_time, false},
	{"runnable", TRIGGER_RUNNABLE, &a_time, false},
	{"syscall", TRIGGER_SYSCALL, &a_time, false},
	{"gc-pause", TRIGGER_GC_PAUSE, &a_time, true},
	{"goroutines", TRIGGER_GOROUTINES, &a_number, false},
	{"queue", TRIGGER_QUEUE, &a_number, false},
	{"heap", TRIGGER_HEAP, &a_size, true},
	{"request", TRIGGER_REQUEST, &a_time, false},
	{"finding", TRIGGER_FINDING, &a_level, false},
	{"cpu", TRIGGER_CPU, &a_percentage, false},
	{"cgroup-cpu", TRIGGER_CGROUP_CPU, &a_percentage, false},
	{"throttled", TRIGGER_THROTTLED, &a_time, false},
	{"rss", TRIGGER_RSS, &a_size, false},
};

enum { NWORDS = sizeof(words) / sizeof(words[0]) };

static const struct word a_function = {"func", TRIGGER_FUNCTION, &a_time, false};

static const struct word *word_of(const struct trigger *trigger)
{
	for (size_t i = 0; i < NWORDS; i++) {
		if (words[i].kind == trigger->kind)
			return &words[i];
	}
	return &a_function;
}

bool trigger_is_of_host(const struct trigger *trigger)
{
	return HOST_TRIGGERS >> trigger->kind & 1;
}

bool triggers_have(const struct trigger *triggers, unsigned n, uint32_t kinds)
{
	for (unsigned i = 0; i < n; i++) {
		if (kinds >> triggers[i].kind & 1)
			return true;
	}
	return false;
}

bool trigger_rises(const struct trigger *trigger, unsigned which, uint64_t value, uint16_t *above)
{
	uint16_t bit = (uint16_t)(1u << which);

	if (value < trigger->limit - trigger->limit / 10 || value == 0)
		*above &= (uint16_t)~bit;
	if (value <= trigger->limit || *above & bit)
		return false;
	*above |= bit;
	return true;
}

const char *trigger_go_only(const struct trigger *trigger)
{
	const struct word *word = word_of(trigger);

	return word->go_only ? word->name : NULL;
}

bool trigger_takes_name(const struct trigger *trigger, const char *name)
{
	size_t len = strlen(trigger->name);

	if (len && trigger->name[len - 1] == '*')
		return strncmp(name, trigger->name, len - 1) == 0;
	return !len || strcmp(name, trigger->name) == 0;
}

/* Parses a number with a unit and nothing after it. */
static bool read_value(const char *text, const struct measure *measure, uint64_t *value)
{
	char *end;
	int rank;

	if (!measure->units) { /* a finding of level info is not a reason to write a file */
		rank = analysis_level(text);
		*value = rank > 0 ? (uint64_t)rank : 0;
		return rank > 0;
	}
	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	for (const struct trigger_unit *unit = measure->units; unit->name && !errno; unit++) {
		if (strcmp(end, unit->name) == 0)
			return !__builtin_mul_overflow(*value, unit->factor, value) && *value > 0;
	}
	return false;
}

/* "--on 'blocke>5ms' is not a trigger: did you mean 'blocked'?" */
static int refuse_trigger(const struct trigger *trigger, const char *name, size_t len, struct error *err)
{
	const char *names[NWORDS], *meant;
	char word[SHORT_TRIGGER], list[256] = "";

	for (size_t i = 0; i < NWORDS; i++) {
		names[i] = words[i].name;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s, ", words[i].name);
	}
	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	meant = suggest_name(word, names, NWORDS);
	if (meant)
		return error_set(err, EINVAL, "--on '%.*s' is not a trigger: did you mean '%s'?",
				 text_fit(trigger->text, 100), trigger->text, meant);
	return error_set(err, EINVAL,
			 "--on '%.*s' is not a trigger: use %sor func NAME (example: 'blocked>50ms')",
			 text_fit(trigger->text, 60), trigger->text, list);
}

/*
 * Whether the text begins as a reason in a trace does: of goroutines (traceBlockReason, Go 1.27
 * runtime/traceruntime.go), or of threads (model/threads/syscalls.c), where it may be the name of a call.
 */
static bool is_wait_reason(const char *text)
{
	static const char *const first[] = {
		TRIGGER_LOCK, "sync",   "chan", "select",  "network",  "sleep",       "GC",    "forever",
		"system",     "wait",   "disk", "pipe",    "tty",      "preempted",   "event", "synctest",
		"coroutine",  "signal", "page", "stopped", "io_uring", "unspecified",
	};
	size_t len = strcspn(text, " (.");
	char word[SHORT_TRIGGER];

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		if (strlen(first[i]) == len && strncmp(first[i], text, len) == 0)
			return true;
	}
	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	return seccomp_syscall_resolve_name(word) != __NR_SCMP_ERROR;
}

/* Parses "blocked" or "blocked:chan receive", where the part after the colon is the reason. */
static int read_name(const char *name, size_t len, struct trigger *trigger, struct error *err)
{
	const char *colon = memchr(name, ':', len);
	size_t first = colon ? (size_t)(colon - name) : len;
	const struct word *word = NULL;

	for (size_t i = 0; i < NWORDS; i++) {
		if (strlen(words[i].name) == first && memcmp(words[i].name, name, first) == 0)
			word = &words[i];
	}
	if (!word)
		return refuse_trigger(trigger, name, first, err);
	trigger->kind = word->kind;
	if (!colon)
		return 0;
	if (trigger->kind == TRIGGER_REQUEST)
		return error_set(err, EINVAL,
				 "--on '%s': the name follows the time (example: 'request>200ms:GET /pay')",
				 trigger->text);
	if (trigger->kind != TRIGGER_BLOCKED || first + 1 == len)
		return error_set(err, EINVAL,
				 "--on '%s': only blocked takes a reason (example: 'blocked:lock>50ms')",
				 trigger->text);
	memcpy(trigger->name, colon + 1, len - first - 1);
	if (!is_wait_reason(trigger->name))
		return error_set(
			err, EINVAL,
			"--on '%s': '%s' is not a reason to wait: use lock, sync, chan, select, network, "
			"disk, sleep, or a system call's name",
			trigger->text, trigger->name);
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

static bool has_word(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* Parses "200ms:GET /pay", "=medium" or "50ms". */
static int trigger_read_limit(const char *value, struct trigger *trigger, struct error *err)
{
	const struct measure *measure = word_of(trigger)->measure;
	const char *colon = trigger->kind == TRIGGER_REQUEST ? strchr(value, ':') : NULL;
	char limit[TRIGGER_TEXT];

	if (trigger->kind == TRIGGER_FINDING) {
		if (*value != '=')
			return error_set(err, EINVAL, "--on '%s': use >= (example: 'finding>=medium')",
					 trigger->text);
		value++;
	}
	while (*value == ' ')
		value++;
	snprintf(limit, sizeof(limit), "%.*s", colon ? (int)(colon - value) : (int)strlen(value), value);
	if (colon && !colon[1])
		return error_set(err, EINVAL,
				 "--on '%s': no name after the colon (example: 'request>200ms:GET /pay')",
				 trigger->text);
	if (colon)
		strcpy(trigger->name, colon + 1);
	if (!read_value(limit, measure, &trigger->limit))
		return error_set(err, EINVAL, "--on '%.*s': '%.*s' is not a %s (%s)",
				 text_fit(trigger->text, 100), trigger->text, text_fit(limit, 100), limit,
				 measure->name, measure->examples);
	return 0;
}

int trigger_parse(const char *text, struct trigger *trigger, struct error *err)
{
	bool function = has_word(text, "func "), request = has_word(text, "request");
	/* The last '>' after a name that may contain others, as C++ functions do; else the first. */
	const char *than = function ? strrchr(text, '>') : strchr(text, '>');
	size_t len = than ? (size_t)(than - text) : strlen(text);
	size_t most = function || request ? TRIGGER_TEXT : SHORT_TRIGGER;

	*trigger = (struct trigger){.limit = 0};
	if (strlen(text) >= most)
		return error_set(err, EINVAL, "--on: a trigger has at most %zu characters", most - 1);
	strcpy(trigger->text, text);
	while (len && text[len - 1] == ' ')
		len--;
	if (!is_function(text, len, trigger) && read_name(text, len, trigger, err))
		return -EINVAL;
	if (than)
		return trigger_read_limit(than + 1, trigger, err);
	if (trigger->kind == TRIGGER_THROTTLED)
		return 0; /* for any time */
	return error_set(err, EINVAL, "--on '%s' has no '>' and limit (example: 'blocked>50ms')", text);
}
