/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/options_analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/options_recording.h"
#include "cli/values.h"
#include "native/value_list.h"

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
};

/* How long a process is traced that is not said to be traced for another time. */
#define DEFAULT_NS 5000000000ull

/* Of a command with a live form. */
struct live_parse {
	void *options; /* of the command */
	struct error *err;
	struct recording_parse recording;
};

/* The last group: what pages.py finds below a header belongs to that. */
static const struct argp_child live_children[] = {
	{.argp = &recording_live, .header = RECORDING_HEADER, .group = 5},
	{.argp = NULL},
};
static const struct argp_child why_children[] = {
	{.argp = &recording_why, .header = RECORDING_HEADER, .group = 5},
	{.argp = NULL},
};

/* A whole number from min to max. */
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

static int set_label(const char **label, const char *text, struct error *err)
{
	if (!strchr(text, '='))
		return error_set(err, EINVAL, "--label: %s is not KEY=VALUE", text);
	*label = text;
	return 0;
}

/* Clears the options, of so many bytes, and fills them in; what `record` in them has by default. */
static int parse_live(const struct argp *parser, int argc, char **argv, struct live_parse *parse, size_t size)
{
	memset(parse->options, 0, size);
	*parse->recording.options = recording_live_defaults();
	parse->err->text[0] = '\0';
	return options_parse(parser, argc, argv, parse);
}

/* A trace file, or a process with options. */
static int check_input(const char *input, const struct live_parse *parse)
{
	const struct record_options *record = parse->recording.options;

	if (!input == !record->pid)
		return error_set(parse->err, EINVAL, "give a trace file, or a process with -p");
	if (input)
		return recording_refuse(&parse->recording, parse->err);
	return recording_check(record, parse->err);
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
	{"html", KEY_HTML, "PAGE", 0, "Write an HTML page that needs only a browser", 2},
	{"by-label", KEY_BY_LABEL, "KEY", 0, "Print what goroutines did by the value of this pprof label", 2},
	{"label", KEY_LABEL, "KEY=VALUE", 0, "Print tables of goroutines while they had this pprof label", 2},
	{"all", KEY_ALL, NULL, 0, "Print every finding, and up to 1000 rows per table", 2},
	{"quiet", 'q', NULL, 0, "Print errors and the report only", 2},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_report(int key, char *text, struct argp_state *state)
{
	struct live_parse *parse = state->input;
	struct report_options *options = parse->options;
	uint64_t number = 0;
	int ret = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		recording_inputs(state, live_children, &parse->recording);
		return 0;
	case ARGP_KEY_ARG:
		return -options_operand(&options->input, text, parse->err);
	case 'p':
		return -parse_pid("-p", text, &options->record.pid, parse->err);
	case 'd':
		return -parse_duration("-d", text, &options->record.duration_ns, parse->err);
	case KEY_MAX_ITEMS:
		ret = parse_number("--max-items", text, 1, 1000000, &number, parse->err);
		options->max_items = (unsigned)number;
		return -ret;
	case KEY_MAX_SIZE:
		ret = parse_size("--max-size", text, 4096, 1 << 30, &number, parse->err);
		options->max_bytes = number;
		return -ret;
	case KEY_HTML:
		options->html = text;
		return 0;
	case KEY_BY_LABEL:
		options->by_label = text;
		return 0;
	case KEY_LABEL:
		return -set_label(&options->label, text, parse->err);
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_ALL:
		options->all = true;
		return 0;
	case 'q':
		options->record.quiet = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp report_parser = {
	.options = report_table,
	.parser = on_report,
	.children = live_children,
	.doc = "Print what a trace (of any format, of gotrace or of Go's own tracer) shows about the "
	       "program: findings first, then tables.\vExit status: 0 read whole, 1 no report, 2 wrong "
	       "usage, 3 read up to a fault in "
	       "FILE.",
};

int options_report(int argc, char **argv, struct report_options *options, struct error *err)
{
	struct live_parse parse = {
		.options = options, .err = err, .recording = {.options = &options->record, .err = err}};
	int rc = parse_live(&report_parser, argc, argv, &parse, sizeof(*options));

	if (rc || options->help)
		return rc;
	if (!options->record.duration_ns)
		options->record.duration_ns = DEFAULT_NS;
	if (options->html && (options->by_label || options->label))
		return error_set(err, EINVAL, "--html excludes --by-label and --label");
	rc = check_input(options->input, &parse);
	if (rc == 0)
		rc = check_label("--label", options->label, &options->record, err);
	return rc ? rc : check_label("--by-label", options->by_label, &options->record, err);
}

void options_help_report(void)
{
	options_print_help(&report_parser,
			   "gotrace report [OPTION...] FILE\n       gotrace report [OPTION...] -p PID");
}

static const struct argp_option why_table[] = {
	{"task", KEY_TASK, "NAME", 0,
	 "Explain a task of this name; with -p, NAME may also be a function, as for gotrace --task "
	 "(main.handle): its calls are recorded as tasks",
	 1},
	{"region", KEY_REGION, "NAME", 0, "Explain a region of this name; with -p, as for --task", 1},
	{"label", KEY_LABEL, "KEY=VALUE", 0, "Explain what a goroutine did while it had this pprof label", 1},
	{"goroutine", KEY_GOROUTINE, "ID", 0,
	 "Explain the life of this goroutine or, with --at, what it did at that time", 1},
	{"slowest", KEY_SLOWEST, "N", 0, "The Nth slowest of them (default: 1)", 1},
	{"at", KEY_AT, "TIME", 0,
	 "The one that was under way at this time since the start of the trace: 3.401s", 1},
	{"pid", 'p', "PID", 0, "Trace this process instead of FILE", 2},
	{"duration", 'd', "TIME", 0, "Trace for this long (default: 5s)", 2},
	{"json", KEY_JSON, NULL, 0, "Print JSON", 3},
	{"quiet", 'q', NULL, 0, "Print errors and the answer only", 3},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_why(int key, char *text, struct argp_state *state)
{
	struct live_parse *parse = state->input;
	struct why_options *options = parse->options;
	uint64_t number = 0;
	int ret = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		recording_inputs(state, why_children, &parse->recording);
		options->at_ns = UINT64_MAX;
		options->slowest = 1;
		return 0;
	case ARGP_KEY_ARG:
		return -options_operand(&options->input, text, parse->err);
	case 'p':
		return -parse_pid("-p", text, &options->record.pid, parse->err);
	case 'd':
		return -parse_duration("-d", text, &options->record.duration_ns, parse->err);
	case KEY_TASK:
		options->task = text;
		return 0;
	case KEY_REGION:
		options->region = text;
		return 0;
	case KEY_LABEL:
		return -set_label(&options->label, text, parse->err);
	case KEY_GOROUTINE:
		return -parse_number("--goroutine", text, 1, UINT64_MAX - 1, &options->goroutine, parse->err);
	case KEY_SLOWEST:
		ret = parse_number("--slowest", text, 1, 1000000, &number, parse->err);
		options->slowest = (unsigned)number;
		return -ret;
	case KEY_AT:
		return -parse_time("--at", text, &options->at_ns, parse->err);
	case KEY_JSON:
		options->json = true;
		return 0;
	case 'q':
		options->record.quiet = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp why_parser = {
	.options = why_table,
	.parser = on_why,
	.children = why_children,
	.doc = "Explain one slow task, region or goroutine: where its time went, across the "
	       "goroutines that it waited for."
	       "\vExit status: 0 explained, 1 not found, 2 wrong usage, 3 explained up to a fault in FILE.",
};

/* The task or region may be of calls of a function, or the program's own. */
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
	struct live_parse parse = {
		.options = options, .err = err, .recording = {.options = &options->record, .err = err}};
	int rc = parse_live(&why_parser, argc, argv, &parse, sizeof(*options));

	if (rc || options->help)
		return rc;
	if (!options->record.duration_ns)
		options->record.duration_ns = DEFAULT_NS;
	if (!options->task + !options->region + !options->label + !options->goroutine != 3)
		return error_set(err, EINVAL, "give one of --task, --region, --label and --goroutine");
	rc = check_input(options->input, &parse);
	if (rc == 0)
		rc = check_label("--label", options->label, &options->record, err);
	if (rc == 0 && options->record.pid)
		want_function(options);
	return rc;
}

void options_help_why(void)
{
	options_print_help(&why_parser,
			   "gotrace why [OPTION...] FILE\n       gotrace why [OPTION...] -p PID");
}

static const struct argp_option diff_table[] = {
	{"json", KEY_JSON, NULL, 0, "Print JSON", 1},
	{"label", KEY_LABEL, "KEY=VALUE", 0, "Compare goroutines while they had this pprof label", 1},
	{"all", KEY_ALL, NULL, 0, "Also print what has not changed", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_diff(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct diff_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		if (!options->before) {
			options->before = text;
			return 0;
		}
		return -options_operand(&options->after, text, parse->err);
	case KEY_LABEL:
		return -set_label(&options->label, text, parse->err);
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_ALL:
		options->all = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp diff_parser = {
	.options = diff_table,
	.parser = on_diff,
	.doc = "Print what changed from trace A to trace B of one program: tasks, regions, waits and "
	       "functions.\vExit status: 0 compared, 1 not read, 2 wrong usage, 3 compared up to a fault in "
	       "A or B.",
};

int options_diff(int argc, char **argv, struct diff_options *options, struct error *err)
{
	int rc = options_into(&diff_parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->after)
		return error_set(err, EINVAL, "diff needs two traces");
	return 0;
}

void options_help_diff(void)
{
	options_print_help(&diff_parser, "gotrace diff [OPTION...] A B");
}

static const struct argp_option top_table[] = {
	{"pid", 'p', "PID", 0, "Watch this process", 1},
	{"interval", 'd', "TIME", 0, "Trace for this long before each refresh (default: 1s)", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_top(int key, char *text, struct argp_state *state)
{
	struct live_parse *parse = state->input;
	struct top_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_INIT:
		recording_inputs(state, live_children, &parse->recording);
		return 0;
	case 'p':
		return -parse_pid("-p", text, &options->record.pid, parse->err);
	case 'd':
		return -parse_duration("-d", text, &options->record.duration_ns, parse->err);
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp top_parser = {
	.options = top_table,
	.parser = on_top,
	.children = live_children,
	.doc = "Show the tables of gotrace report for a live process, refreshed every second. Nothing is "
	       "kept.\vKeys: Tab, Shift-Tab and digits choose the table; t, n, p and m sort by total, count, "
	       "p99 and maximum; Space pauses; q quits.",
};

int options_top(int argc, char **argv, struct top_options *options, struct error *err)
{
	struct live_parse parse = {
		.options = options, .err = err, .recording = {.options = &options->record, .err = err}};
	int rc = parse_live(&top_parser, argc, argv, &parse, sizeof(*options));

	if (rc || options->help)
		return rc;
	if (!options->record.pid)
		return error_set(err, EINVAL, "no process given: use -p PID");
	if (!options->record.duration_ns)
		options->record.duration_ns = 1000000000;
	return recording_check(&options->record, err);
}

void options_help_top(void)
{
	options_print_help(&top_parser, "gotrace top [OPTION...] -p PID");
}
