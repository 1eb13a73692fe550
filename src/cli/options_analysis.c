/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/options_analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "cli/options_common.h"
#include "cli/options_recording.h"
#include "cli/values.h"
#include "target/functions/value_list.h"

enum key {
	KEY_JSON = 1000,
	KEY_HTML,
	KEY_ALL,
	KEY_MAX_ITEMS,
	KEY_MAX_SIZE,
	KEY_TASK,
	KEY_REGION,
	KEY_GOROUTINE,
	KEY_AT,
	KEY_SLOWEST,
	KEY_LABEL,
	KEY_BY_LABEL,
	KEY_FAIL_ON,
};

/* Default durations: of report and why, and of the rounds of top. */
#define DEFAULT_NS        5000000000ull
#define ROUND_NS          1000000000ull
#define SHORTEST_ROUND_NS 100000000ull

/* The last group, because pages.py takes all that follows a header for its group. */
static const struct argp_child live_children[] = {
	{.argp = &recording_live, .header = RECORDING_HEADER, .group = 5},
	{.argp = NULL},
};
static const struct argp_child why_children[] = {
	{.argp = &recording_why, .header = RECORDING_HEADER, .group = 5},
	{.argp = NULL},
};

/* Parses a whole number from min to max. Returns 0 or -EINVAL. */
static int parse_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value,
			struct error *err)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || *value < min || *value > max)
		return error_set(err, EINVAL, "%s: %s is not a number from %llu to %llu", option, text,
				 (unsigned long long)min, (unsigned long long)max);
	return 0;
}

static int set_number(const char *option, const char *text, unsigned *number, struct error *err)
{
	uint64_t value = 0;
	int rc = parse_number(option, text, 1, 1000000, &value, err);

	*number = (unsigned)value;
	return rc;
}

static int set_label(void *label, const char *option, const char *text, struct error *err)
{
	if (!strchr(text, '='))
		return error_set(err, EINVAL, "%s: %s is not KEY=VALUE", option, text);
	*(const char **)label = text;
	return 0;
}

#define OPTION_LABEL(options) KEY_LABEL, OPTION_MEMBER(const char *, options, label), set_label

/* Parses a command line with recording options. The defaults must be set, except that of the duration. */
static int parse_live(const struct option_parser *parser, int argc, char **argv, void *options,
		      struct recording_parse *recording)
{
	int rc = options_parse(parser, argc, argv, options, recording, recording->err);

	recording->timed = recording->options->duration_ns != 0;
	if (rc == 0 && !recording->timed)
		recording->options->duration_ns = DEFAULT_NS;
	return rc;
}

/* Checks that either a trace file or a process is given, and recording options only with a process. */
static int check_input(const char *input, const struct recording_parse *recording)
{
	if (!input == !recording->options->pid)
		return error_set(recording->err, EINVAL, "give a trace file, or a process with -p");
	if (input && recording->timed)
		return error_set(recording->err, EINVAL,
				 "-d says how long a process is recorded: it needs -p PID instead of a trace "
				 "file");
	if (input)
		return recording_refuse(recording, recording->err);
	return recording_check(recording->options, recording->err);
}

static int check_label(const char *option, const char *label, const struct record_options *record,
		       struct error *err)
{
	if (label && !record->labels)
		return error_set(err, EINVAL, "%s and --no-labels exclude each other", option);
	return 0;
}

static const struct argp_option report_table[] = {
	{"pid", 'p', "PID", 0, "Trace this process instead of FILE", 1},
	{"duration", 'd', "TIME", 0, "Trace for this long (default: 5s)", 1},
	{"json", KEY_JSON, NULL, 0, "Print JSON", 2},
	{"max-items", KEY_MAX_ITEMS, "N", 0, "At most this many rows of each list in JSON", 2},
	{"max-size", KEY_MAX_SIZE, "BYTES", 0, "At most about this much JSON (default: 64k)", 2},
	{"html", KEY_HTML, "PAGE", 0, "Write an HTML page that needs only a browser; - is standard output",
	 2},
	{"by-label", KEY_BY_LABEL, "KEY", 0, "Print what goroutines did by the value of this pprof label", 2},
	{"label", KEY_LABEL, "KEY=VALUE", 0, "Print tables of goroutines while they had this pprof label", 2},
	{"all", KEY_ALL, NULL, 0, "Print every finding, and up to 1000 rows per table", 2},
	{"fail-on", KEY_FAIL_ON, "LEVEL", 0,
	 "End with status 4 if there is a finding of this level or above: info, low, medium, high", 2},
	{"quiet", 'q', NULL, 0, "Print errors and the report only", 2},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int set_max_items(void *options, const char *option, const char *text, struct error *err)
{
	return set_number(option, text, &((struct report_options *)options)->max_items, err);
}

static int options_analysis_set_max_size(void *options, const char *option, const char *text,
					 struct error *err)
{
	uint64_t bytes = 0;
	int rc = parse_size(option, text, 4096, 1 << 30, &bytes, err);

	((struct report_options *)options)->max_bytes = bytes;
	return rc;
}

static int set_fail_on(void *options, const char *option, const char *text, struct error *err)
{
	int level = analysis_level(text);

	if (level < 0)
		return error_set(err, EINVAL, "%s: %s is not info, low, medium or high", option, text);
	((struct report_options *)options)->fail_on = (unsigned)level + 1;
	return 0;
}

static const struct option_binding report_bindings[] = {
	{OPTION_FILE(report_options, input)},
	{OPTION_PID('p', report_options, record.pid)},
	{OPTION_DURATION('d', report_options, record.duration_ns)},
	{OPTION_TRUE(KEY_JSON, report_options, json)},
	{OPTION_WITH(KEY_MAX_ITEMS, set_max_items)},
	{OPTION_WITH(KEY_MAX_SIZE, options_analysis_set_max_size)},
	{OPTION_TEXT(KEY_HTML, report_options, html)},
	{OPTION_TEXT(KEY_BY_LABEL, report_options, by_label)},
	{OPTION_LABEL(report_options)},
	{OPTION_TRUE(KEY_ALL, report_options, all)},
	{OPTION_WITH(KEY_FAIL_ON, set_fail_on)},
	{OPTION_TRUE('q', report_options, record.quiet)},
	{OPTION_END},
};

static const struct option_parser report_parser = {
	.argp = {.options = report_table,
		 .parser = options_take,
		 .children = live_children,
		 .doc = "Print what a trace (of any format, of gotrace or of Go's own tracer) shows about "
			"the "
			"program: findings first, then tables.\vExit status: 0 read whole, 1 no report, 2 "
			"wrong "
			"usage, 3 read up to a fault in "
			"FILE, 4 read whole, with a finding for --fail-on."},
	.bindings = report_bindings,
	.usage = "gotrace report [OPTION...] FILE\n       gotrace report [OPTION...] -p PID",
};

int options_report(int argc, char **argv, struct report_options *options, struct error *err)
{
	struct recording_parse recording = {.options = &options->record, .err = err};
	int rc;

	*options = (struct report_options){.record = recording_live_defaults()};
	rc = parse_live(&report_parser, argc, argv, options, &recording);
	if (rc)
		return rc;
	if (options->html && (options->by_label || options->label))
		return error_set(err, EINVAL, "--html excludes --by-label and --label");
	if (options->html && options->json && strcmp(options->html, "-") == 0)
		return error_set(err, EINVAL, "--html=- excludes --json: both are standard output");
	rc = check_input(options->input, &recording);
	if (rc == 0)
		rc = check_label("--label", options->label, &options->record, err);
	return rc ? rc : check_label("--by-label", options->by_label, &options->record, err);
}

static const struct argp_option why_table[] = {
	{"task", KEY_TASK, "NAME", 0,
	 "Explain a task of this name; with -p, that of a function, too, as gotrace --task records it "
	 "(main.handle)",
	 1},
	{"region", KEY_REGION, "NAME", 0,
	 "Explain a region of this name; with -p, that of a function, too, as gotrace --region records it",
	 1},
	{"label", KEY_LABEL, "KEY=VALUE", 0, "Explain what a goroutine did while it had this pprof label", 1},
	{"goroutine", KEY_GOROUTINE, "ID", 0,
	 "Explain the life of this goroutine or, with --at, what it did at that time", 1},
	{"thread", KEY_GOROUTINE, "TID", 0, "The same for a thread of a program that was traced as threads",
	 1},
	{"slowest", KEY_SLOWEST, "N", 0, "The Nth slowest of them (default: 1)", 1},
	{"at", KEY_AT, "TIME", 0,
	 "The one that was in progress this long after the start of the trace: 3.401s", 1},
	{"pid", 'p', "PID", 0, "Trace this process instead of FILE", 2},
	{"duration", 'd', "TIME", 0, "Trace for this long (default: 5s)", 2},
	{"json", KEY_JSON, NULL, 0, "Print JSON", 3},
	{"quiet", 'q', NULL, 0, "Print errors and the answer only", 3},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int set_goroutine(void *goroutine, const char *option, const char *text, struct error *err)
{
	return parse_number(option, text, 1, UINT64_MAX - 1, goroutine, err);
}

static int set_slowest(void *options, const char *option, const char *text, struct error *err)
{
	return set_number(option, text, &((struct why_options *)options)->slowest, err);
}

static const struct option_binding why_bindings[] = {
	{OPTION_FILE(why_options, input)},
	{OPTION_TEXT(KEY_TASK, why_options, task)},
	{OPTION_TEXT(KEY_REGION, why_options, region)},
	{OPTION_LABEL(why_options)},
	{KEY_GOROUTINE, OPTION_MEMBER(uint64_t, why_options, goroutine), set_goroutine},
	{OPTION_WITH(KEY_SLOWEST, set_slowest)},
	{OPTION_TIME(KEY_AT, why_options, at_ns)},
	{OPTION_PID('p', why_options, record.pid)},
	{OPTION_DURATION('d', why_options, record.duration_ns)},
	{OPTION_TRUE(KEY_JSON, why_options, json)},
	{OPTION_TRUE('q', why_options, record.quiet)},
	{OPTION_END},
};

static const struct option_parser why_parser = {
	.argp = {.options = why_table,
		 .parser = options_take,
		 .children = why_children,
		 .doc = "Explain one slow task, region or goroutine: where its time went, across the "
			"goroutines that it waited for."
			"\vExit status: 0 explained, 1 not found, 2 wrong usage, 3 explained up to a fault "
			"in FILE."},
	.bindings = why_bindings,
	.usage = "gotrace why [OPTION...] FILE\n       gotrace why [OPTION...] -p PID",
};

/* With -p, the name may be a function, whose calls are then recorded, or that of the program's own task. */
static void want_function(struct why_options *options)
{
	const char *text = options->task ? options->task : options->region;
	struct value_list list;

	if (!text || value_list_parse(text, &list, NULL))
		return;
	options->record.functions[0] =
		(struct function_want){.text = text, .kind = options->task ? FUNCTION_TASK : FUNCTION_REGION};
	options->record.nfunctions = 1;
	options->record.try_functions = true;
}

int options_why(int argc, char **argv, struct why_options *options, struct error *err)
{
	struct recording_parse recording = {.options = &options->record, .err = err};
	int rc;

	*options =
		(struct why_options){.record = recording_live_defaults(), .at_ns = UINT64_MAX, .slowest = 1};
	rc = parse_live(&why_parser, argc, argv, options, &recording);
	if (rc)
		return rc;
	if (!options->task + !options->region + !options->label + !options->goroutine != 3)
		return error_set(err, EINVAL,
				 "give one of --task, --region, --label, --goroutine and --thread");
	rc = check_input(options->input, &recording);
	if (rc == 0)
		rc = check_label("--label", options->label, &options->record, err);
	if (rc == 0 && options->record.pid)
		want_function(options);
	return rc;
}

static const struct argp_option diff_table[] = {
	{"json", KEY_JSON, NULL, 0, "Print JSON", 1},
	{"label", KEY_LABEL, "KEY=VALUE", 0, "Compare goroutines while they had this pprof label", 1},
	{"all", KEY_ALL, NULL, 0, "Also print what has not changed", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

/* Sets `before` to the first file, `after` to the second. */
static int set_trace(void *member, const char *option, const char *text, struct error *err)
{
	struct diff_options *options = member;

	return option_set_operand(options->before ? &options->after : &options->before, option, text, err);
}

static const struct option_binding diff_bindings[] = {
	{OPTION_WITH(ARGP_KEY_ARG, set_trace)},
	{OPTION_LABEL(diff_options)},
	{OPTION_TRUE(KEY_JSON, diff_options, json)},
	{OPTION_TRUE(KEY_ALL, diff_options, all)},
	{OPTION_END},
};

static const struct option_parser diff_parser = {
	.argp = {.options = diff_table,
		 .parser = options_take,
		 .doc = "Print what changed from trace A to trace B of one program: tasks, regions, waits "
			"and "
			"functions.\vExit status: 0 compared, 1 not read, 2 wrong usage, 3 compared up to a "
			"fault in "
			"A or B."},
	.bindings = diff_bindings,
	.usage = "gotrace diff [OPTION...] A B",
};

int options_diff(int argc, char **argv, struct diff_options *options, struct error *err)
{
	int rc;

	*options = (struct diff_options){0};
	rc = options_parse(&diff_parser, argc, argv, options, NULL, err);
	if (rc == 0 && !options->after)
		return error_set(err, EINVAL, "diff needs two traces");
	return rc;
}

static const struct argp_option top_table[] = {
	{"pid", 'p', "PID", 0, "Watch this process", 1},
	{"interval", 'i', "TIME", 0, "Refresh the tables this often (default: 1s)", 1},
	OPTION_OLD(NULL, 'd', "TIME"),
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const struct option_binding top_bindings[] = {
	{OPTION_PID('p', top_options, record.pid)},
	{OPTION_DURATION('i', top_options, interval_ns)},
	{OPTION_DURATION('d', top_options, interval_ns)},
	{OPTION_END},
};

static const struct option_parser top_parser = {
	.argp = {.options = top_table,
		 .parser = options_take,
		 .children = live_children,
		 .doc = "Show the tables of gotrace report for a live process, refreshed every second. "
			"Each shows what has happened since the one before. Nothing is kept.\vKeys: Tab, "
			"Shift-Tab and digits choose the table; t, n, p and m sort by "
			"total, count, "
			"p99 and maximum; Space pauses; q quits."},
	.bindings = top_bindings,
	.usage = "gotrace top [OPTION...] -p PID",
};

int options_top(int argc, char **argv, struct top_options *options, struct error *err)
{
	struct recording_parse recording = {.options = &options->record, .err = err};
	int rc;

	*options = (struct top_options){.record = recording_live_defaults(), .interval_ns = ROUND_NS};
	rc = options_parse(&top_parser, argc, argv, options, &recording, err);
	if (rc)
		return rc;
	if (!options->record.pid)
		return error_set(err, EINVAL, "no process given: use -p PID");
	if (options->interval_ns < SHORTEST_ROUND_NS)
		return error_set(err, EINVAL, "-i: the shortest interval is 100ms");
	return recording_check(&options->record, err);
}
