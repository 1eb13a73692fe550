/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of the commands that take one operand: replay, check, dump, sites. */
#include "cli/options.h"

#include <errno.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/values.h"
#include "native/value_list.h"

enum files_key {
	KEY_FORMAT = 1000,
	KEY_JSON,
	KEY_STATS,
	KEY_OS_REGIONS,
	KEY_LOCKS,
	KEY_SORT,
	KEY_RUNTIME_FRAMES,
	KEY_REPAIR,
	KEY_STACKS,
	KEY_ABSOLUTE,
};

static const struct argp_option replay_table[] = {
	{"output", 'o', "FILE", 0, "Write the trace here; - is standard output", 1},
	{"format", KEY_FORMAT, "GO", 0,
	 "Write the format of this Go release, 1.5 to 1.26, or v0 (default: the target's own)", 1},
	{"runtime-frames", KEY_RUNTIME_FRAMES, NULL, 0, "Keep the runtime's own frames in stacks", 1},
	{"os-regions", KEY_OS_REGIONS, "TIME", 0,
	 "Mark in the trace where a running goroutine had no CPU for this long (default: 1ms); none: no "
	 "marks",
	 1},
	{"locks", KEY_LOCKS, NULL, 0,
	 "Log at each wait for a lock or channel which one it is, by address (a user log, category lock)", 1},
	{"json", KEY_JSON, NULL, 0, "Print the summary as JSON on standard output", 2},
	{"quiet", 'q', NULL, 0, "Print errors and losses only", 2},
	{"stats", KEY_STATS, NULL, 0, "Show in the summary how the trace was recorded, and more rows", 2},
	{"sort", KEY_SORT, "COLUMN", 0,
	 "Sort the summary's rows by running, runnable, blocked or count (default: running)", 2},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_replay(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct replay_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return -options_operand(&options->input, text, parse->err);
	case 'o':
		options->output = text;
		return 0;
	case KEY_FORMAT:
		return -parse_format("--format", text, &options->format, parse->err);
	case KEY_RUNTIME_FRAMES:
		options->runtime_frames = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_STATS:
		options->style.stats = true;
		return 0;
	case KEY_OS_REGIONS:
		return -parse_off_cpu("--os-regions", text, &options->off_cpu_ns, parse->err);
	case KEY_LOCKS:
		options->locks = true;
		return 0;
	case KEY_SORT:
		return -parse_sort(text, &options->style.sort, parse->err);
	case 'q':
		options->quiet = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp replay_parser = {
	.options = replay_table,
	.parser = on_replay,
	.doc = "Make a trace from a raw log that gotrace --raw wrote. No privilege is needed."
	       "\v"
	       "Exit status: 0 written whole, 1 no trace, 2 wrong usage, 3 written but something "
	       "was lost or cut.",
};

int options_replay(int argc, char **argv, struct replay_options *options, struct error *err)
{
	int rc = options_into(&replay_parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->input || !options->output)
		return error_set(err, EINVAL, "replay needs a raw log and -o FILE");
	if (options->json && strcmp(options->output, "-") == 0)
		return error_set(err, EINVAL, "-o - and --json both write to standard output");
	return 0;
}

static const struct argp_option check_table[] = {
	{"repair", KEY_REPAIR, NULL, 0, "Truncate a damaged file to its valid part", 1},
	{"json", KEY_JSON, NULL, 0, "Print JSON", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_check(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct check_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return -options_operand(&options->input, text, parse->err);
	case KEY_REPAIR:
		options->repair = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp check_parser = {
	.options = check_table,
	.parser = on_check,
	.doc = "Check whether a Go execution trace (of any format) is valid, and print what is in "
	       "it."
	       "\v"
	       "Exit status: 0 valid, 1 not valid or not readable, 2 wrong usage, 3 valid up to a "
	       "point.",
};

int options_check(int argc, char **argv, struct check_options *options, struct error *err)
{
	int rc = options_into(&check_parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->input)
		return error_set(err, EINVAL, "no file given to check");
	return 0;
}

static const struct argp_option dump_table[] = {
	{"stacks", KEY_STACKS, NULL, 0, "Print the frames of each event's stack below it", 1},
	{"absolute", KEY_ABSOLUTE, NULL, 0, "Print times of the file's own clock, not relative to its start",
	 1},
	{"json", KEY_JSON, NULL, 0, "Print one JSON object per line", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_dump(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct dump_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return -options_operand(&options->input, text, parse->err);
	case KEY_STACKS:
		options->stacks = true;
		return 0;
	case KEY_ABSOLUTE:
		options->absolute = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp dump_parser = {
	.options = dump_table,
	.parser = on_dump,
	.doc = "Print the events of a Go execution trace (of any format) in order, one per line: time in ns, "
	       "name, thread, P and goroutine (- is none), arguments.\vIf the file is invalid, the events "
	       "before the first fault are printed.\nExit status: 0 "
	       "valid, 1 not valid or not readable, 2 wrong usage, 3 valid up to a point.",
};

int options_dump(int argc, char **argv, struct dump_options *options, struct error *err)
{
	int rc = options_into(&dump_parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->input)
		return error_set(err, EINVAL, "no file given to print");
	return 0;
}

enum sites_key { KEY_SITES_REGION = 3000 };

static const struct argp_option sites_table[] = {
	{"region", KEY_SITES_REGION, "FUNC", 0,
	 "Print instead where calls of this function would be probed, and which arguments would be read from "
	 "where, with FUNC as for gotrace --region. May be repeated",
	 1},
	OPTIONS_LAYOUT(1),
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int add_function(struct sites_options *options, const char *text, struct error *err)
{
	struct value_list list;
	struct error why;

	if (!*text || options->nfunctions == MAX_FUNCTIONS)
		return error_set(err, EINVAL, "--region: %s",
				 *text ? "too many functions" : "which function?");
	if (value_list_parse(text, &list, &why))
		return error_set(err, EINVAL, "--region: %s", why.text);
	options->functions[options->nfunctions++] =
		(struct function_want){.text = text, .kind = FUNCTION_REGION};
	return 0;
}

static error_t on_sites(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct sites_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		if (options->pid)
			return -error_set(parse->err, EINVAL, "only one process can be given");
		return -parse_pid("sites", text, &options->pid, parse->err);
	case KEY_SITES_REGION:
		return -add_function(options, text, parse->err);
	case OPTIONS_LAYOUT_KEY:
		options->layout = text;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp sites_parser = {
	.options = sites_table,
	.parser = on_sites,
	.doc = "Print where gotrace would probe this process: FUNCTION+OFFSET INSTRUCTION SITE "
	       "FILEOFFSET.",
};

int options_sites(int argc, char **argv, struct sites_options *options, struct error *err)
{
	int rc = options_into(&sites_parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->pid)
		return error_set(err, EINVAL, "no process given: give its PID");
	return 0;
}

void options_help_replay(void)
{
	options_print_help(&replay_parser, "gotrace replay [OPTION...] RAW -o FILE");
}

void options_help_check(void)
{
	options_print_help(&check_parser, "gotrace check [OPTION...] FILE");
}

void options_help_dump(void)
{
	options_print_help(&dump_parser, "gotrace dump [OPTION...] FILE");
}

void options_help_sites(void)
{
	options_print_help(&sites_parser, "gotrace sites [OPTION...] PID");
}
