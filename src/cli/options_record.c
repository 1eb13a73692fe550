/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/options.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/options_recording.h"
#include "cli/values.h"

enum record_key {
	KEY_RAW = 1000,
	KEY_JSON,
	KEY_STATS,
	KEY_SORT,
	KEY_MAX_SIZE,
	KEY_PROBE_ONLY,
	KEY_ALLOC,
	KEY_CHILDREN,
};

static const struct argp_option table[] = {
	{"pid", 'p', "PID", 0, "Trace this running process", 1},
	{"duration", 'd', "TIME", 0, "End after this time: 500ms, 5s, 2m (or at Ctrl-C)", 1},
	{"output", 'o', "FILE", 0,
	 "Write the trace here (default: a new gotrace-PID-UTCTIME.trace); -: standard output; "
	 "FILE.perfetto-trace: for Perfetto",
	 1},
	{"children", KEY_CHILDREN, NULL, 0,
	 "Also trace its descendants, as threads, each in a file of its own, FILE.PID", 1},
	{"max-size", KEY_MAX_SIZE, "BYTES", 0, "End when the trace has about this size: 500k, 2G", 1},
	{"json", KEY_JSON, NULL, 0, "Print the summary as JSON on standard output", 2},
	{"quiet", 'q', NULL, 0, "Print errors and losses only", 2},
	{"stats", KEY_STATS, NULL, 0, "Show how the trace was recorded, and more rows", 2},
	{"sort", KEY_SORT, "COLUMN", 0, "Sort by running, runnable, blocked or count", 2},
	{"raw", KEY_RAW, "FILE", 0, "Also keep the raw log, for gotrace replay", 3},
	{"alloc", KEY_ALLOC, NULL, 0, "Also record heap spans and goroutine stacks", 3},
	{"probe-only", KEY_PROBE_ONLY, NULL, OPTION_HIDDEN, NULL, 3},
	{"version", 'v', NULL, 0, "Print the version", 4},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int set_pid(void *member, const char *option, const char *text, struct error *err)
{
	struct record_options *options = member;

	if (options->pid)
		return error_set(err, EINVAL, "%s can be given only once: run one gotrace for each process",
				 option);
	return parse_pid(option, text, &options->pid, err);
}

static int options_record_set_max_size(void *options, const char *option, const char *text, struct error *err)
{
	return parse_size(option, text, 1, INT64_MAX, &((struct record_options *)options)->max_bytes, err);
}

static const struct option_binding bindings[] = {
	{OPTION_WITH('p', set_pid)},
	{OPTION_DURATION('d', record_options, duration_ns)},
	{OPTION_TEXT('o', record_options, output)},
	{OPTION_TRUE(KEY_CHILDREN, record_options, children)},
	{OPTION_WITH(KEY_MAX_SIZE, options_record_set_max_size)},
	{OPTION_TRUE(KEY_JSON, record_options, json)},
	{OPTION_TRUE('q', record_options, quiet)},
	{OPTION_TRUE(KEY_STATS, record_options, style.stats)},
	{OPTION_SORT(KEY_SORT, record_options, style.sort)},
	{OPTION_TEXT(KEY_RAW, record_options, raw)},
	{OPTION_TRUE(KEY_ALLOC, record_options, alloc)},
	{OPTION_TRUE(KEY_PROBE_ONLY, record_options, probe_only)},
	{OPTION_TRUE('v', record_options, version)},
	{OPTION_END},
};

/* Takes the first word after "--" and all that follow as the command. */
static int take_word(struct record_options *options, const char *word, struct argp_state *state,
		     struct error *err)
{
	if (!state->quoted || state->next - 1 < state->quoted)
		return error_set(err, EINVAL,
				 "'%s' is not a command or an option (a program to start goes after --)",
				 word);
	options->command = &state->argv[state->next - 1];
	state->next = state->argc;
	return 0;
}

static const struct argp_child children[] = {{.argp = &recording_common},
					     {.argp = &recording_functions},
					     {.argp = &recording_in_file},
					     {.argp = &recording_limits},
					     {.argp = NULL}};

static error_t options_record_on_option(int key, char *text, struct argp_state *state)
{
	struct option_input *input = state->input;

	if (key == ARGP_KEY_ARG)
		return -take_word(input->options, text, state, input->err);
	return options_take(key, text, state);
}

static int options_record_check_together(const struct record_options *options, struct error *err)
{
	bool standard = options->output && strcmp(options->output, "-") == 0;

	if (options->pid && options->command)
		return error_set(err, EINVAL, "-p PID and -- CMD exclude each other");
	if (!options->pid && !options->command)
		return error_set(err, EINVAL, "no process given: use -p PID, or -- CMD to start one");
	if (options->children && standard)
		return error_set(err, EINVAL,
				 "--children writes one file for each process: it excludes -o -");
	if (options->children && options->as == AS_GO)
		return error_set(err, EINVAL, "--children traces threads: it excludes --as go");
	if (standard && options->json)
		return error_set(err, EINVAL, "-o - and --json both write to standard output");
	if (standard && options->command)
		return error_set(err, EINVAL, "-o - and the program after -- both write to standard output");
	if (options->alloc && options->trace_options.format != WIRE_NONE &&
	    options->trace_options.format < WIRE_GO123)
		return error_set(err, EINVAL,
				 "--alloc: formats before that of Go 1.23 have no memory events");
	if (options->raw && strcmp(options->raw, "-") == 0)
		return error_set(err, EINVAL, "--raw needs a file, not standard output");
	if (options->raw && options->output && strcmp(options->raw, options->output) == 0)
		return error_set(err, EINVAL, "-o and --raw name the same file");
	return recording_check(options, err);
}

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_record_on_option,
		 .children = children,
		 .doc = "Write a Go execution trace of a running process, which needs no preparation."
			"\v"
			"Examples:\n"
			"  sudo gotrace -p 1234 -d 5s          trace a process for five seconds\n"
			"  sudo gotrace -- ./server -port 80   start a program and trace all of it\n"
			"  sudo gotrace -p 1234 --as c         as the kernel schedules its threads\n"
			"  go tool trace slow.trace            open a trace\n\n"
			"gotrace COMMAND --help explains a command. man gotrace has more options.\n"
			"Exit status: 0 written whole (with --: the status of CMD), 1 no trace, 2 wrong "
			"usage, "
			"3 written but something was lost or cut."},
	.bindings = bindings,
	.usage = "gotrace [OPTION...] -p PID\n"
		 "       gotrace [OPTION...] -- CMD [ARG...]\n"
		 "       gotrace flight | snapshot | top | ps | sites | doctor -p PID\n"
		 "       gotrace report | why | view | flame | sql | dump | check | cut FILE\n"
		 "       gotrace convert FILE | diff BEFORE AFTER | replay RAW | layout --go PATH",
};

int options_record(int argc, char **argv, struct record_options *options, struct error *err)
{
	struct recording_parse parse = {.options = options, .err = err};
	int rc;

	*options = recording_defaults();
	rc = options_parse(&parser, argc, argv, options, &parse, err);
	if (rc || options->version)
		return rc;
	return options_record_check_together(options, err);
}
