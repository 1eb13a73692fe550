/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cli/options.h"
#include "cli/options_common.h"
#include "cli/values.h"
#include "util/clock.h"

#define BETWEEN_NS  (2 * NS_PER_S)
#define MOST        1000000u
#define MAX_ALLOWED 4000000u

enum ps_key { KEY_JSON = 1000, KEY_ALL, KEY_BY, KEY_MAX };

static const struct argp_option table[] = {
	{"pid", 'p', "PID", 0, "The process", 1},
	{"interval", 'i', "TIME", 0, "Read the goroutines twice, this far apart (default: 2s); 0: once", 1},
	{"max", KEY_MAX, "N", 0, "Read at most this many goroutines (default: 1000000)", 1},
	OPTION_OLD("duration", 'd', "TIME"),
	OPTIONS_LAYOUT(1),
	{"by", KEY_BY, "WHAT", 0,
	 "Group by stack (the default), by stack and labels ('labels'), or by the value of one pprof label "
	 "('label:KEY') and stack",
	 2},
	{"all", KEY_ALL, NULL, 0, "Show the runtime's own goroutines, every group and every frame", 2},
	{"json", KEY_JSON, NULL, 0, "Print JSON (docs/ps.schema.json)", 2},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int set_by(void *member, const char *option, const char *text, struct error *err)
{
	static const char label[] = "label:";
	struct ps_options *options = member;

	options->by_labels = strcmp(text, "labels") == 0;
	options->by_label = NULL;
	if (strncmp(text, label, sizeof(label) - 1) == 0 && text[sizeof(label) - 1])
		options->by_label = text + sizeof(label) - 1;
	if (!options->by_labels && !options->by_label && strcmp(text, "stack") != 0)
		return error_set(err, EINVAL, "%s: '%s' is not stack, labels or label:KEY", option, text);
	return 0;
}

static int set_most(void *options, const char *option, const char *text, struct error *err)
{
	uint64_t n;
	int rc = parse_id(option, text, &n, err);

	if (rc == 0 && n > MAX_ALLOWED)
		return error_set(err, EINVAL, "%s: %s is more than %u", option, text, MAX_ALLOWED);
	((struct ps_options *)options)->most = rc ? 0 : (uint32_t)n;
	return rc;
}

static int options_ps_refuse_operand(void *options, const char *option, const char *text, struct error *err)
{
	(void)options, (void)option;
	return error_set(err, EINVAL, "ps takes no argument: '%s'; give the process with -p PID", text);
}

static const struct option_binding bindings[] = {
	{OPTION_WITH(ARGP_KEY_ARG, options_ps_refuse_operand)},
	{OPTION_PID('p', ps_options, pid)},
	{OPTION_TIME('i', ps_options, between_ns)},
	{OPTION_TIME('d', ps_options, between_ns)},
	{OPTION_WITH(KEY_MAX, set_most)},
	{OPTION_WITH(KEY_BY, set_by)},
	{OPTION_TEXT(OPTIONS_LAYOUT_KEY, ps_options, layout)},
	{OPTION_TRUE(KEY_ALL, ps_options, all)},
	{OPTION_TRUE(KEY_JSON, ps_options, json)},
	{OPTION_END},
};

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .doc = "Print the goroutines that a Go program has now, grouped by stack: how many, what "
			"they wait for and how long, where they were created, and their pprof labels. "
			"Nothing is attached to the program: its memory is read twice. Goroutines that wait "
			"for a "
			"channel, a select or a lock and did not move in between come first, because they "
			"may be "
			"leaked."
			"\v"
			"Exit status: 0 printed, 1 the process cannot be read, 2 wrong usage, 3 incomplete "
			"(--max, or "
			"unreadable memory)."},
	.bindings = bindings,
	.usage = "gotrace ps -p PID [OPTION...]",
};

int options_ps(int argc, char **argv, struct ps_options *options, struct error *err)
{
	int rc;

	*options = (struct ps_options){.between_ns = BETWEEN_NS, .most = MOST};
	rc = options_parse(&parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->pid)
		return error_set(err, EINVAL, "no process given: use -p PID");
	return 0;
}
