/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of gotrace cut. */
#include "cli/options.h"

#include <errno.h>

#include "cli/options_common.h"
#include "cli/values.h"

enum cut_key {
	KEY_FROM = 1000,
	KEY_TO,
	KEY_LAST,
	KEY_GOROUTINE,
	KEY_TASK,
	KEY_MAX_SIZE,
	KEY_SPLIT,
	KEY_ANONYMIZE,
};

enum { MIN_SIZE = 4 << 10 };

static const struct argp_option table[] = {
	{"output", 'o', "FILE", 0,
	 "Write the piece here; - is standard output. With --split: FILE.1, FILE.2, ...", 1},
	{"from", KEY_FROM, "TIME", 0,
	 "Begin this long after the start of the trace: 1.5s, 300ms, 20us, 800ns", 1},
	{"to", KEY_TO, "TIME", 0, "End this long after the start of the trace", 1},
	{"last", KEY_LAST, "TIME", 0, "Keep only this much from the end of the trace", 1},
	{"goroutine", KEY_GOROUTINE, "ID", 0, "Keep only this goroutine; may be repeated", 1},
	{"task", KEY_TASK, "ID", 0, "Keep only the goroutines that take part in this task, while it lasts",
	 1},
	{"max-size", KEY_MAX_SIZE, "BYTES", 0, "End before the piece exceeds this size: 500k, 10M", 1},
	{"split", KEY_SPLIT, "BYTES", 0, "Write the whole trace, in pieces of at most about this size", 1},
	{"anonymize", KEY_ANONYMIZE, NULL, 0, "Replace names and paths by numbers", 1},
	{"quiet", 'q', NULL, 0, "Print errors only", 2},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int take_goroutine(struct cut_command_options *options, const char *text, struct error *err)
{
	if (options->ngoids == MAX_CUT_GOROUTINES)
		return error_set(err, EINVAL, "--goroutine: more than %d", MAX_CUT_GOROUTINES);
	return parse_id("--goroutine", text, &options->goids[options->ngoids++], err);
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct cut_command_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return -options_operand(&options->input, text, parse->err);
	case 'o':
		options->output = text;
		return 0;
	case KEY_FROM:
		return -parse_time("--from", text, &options->from_ns, parse->err);
	case KEY_TO:
		options->has_to = true;
		return -parse_time("--to", text, &options->to_ns, parse->err);
	case KEY_LAST:
		options->has_last = true;
		return -parse_time("--last", text, &options->last_ns, parse->err);
	case KEY_GOROUTINE:
		return -take_goroutine(options, text, parse->err);
	case KEY_TASK:
		return -parse_id("--task", text, &options->task, parse->err);
	case KEY_MAX_SIZE:
		return -parse_size("--max-size", text, MIN_SIZE, UINT64_MAX / 2, &options->max_bytes,
				   parse->err);
	case KEY_SPLIT:
		return -parse_size("--split", text, MIN_SIZE, UINT64_MAX / 2, &options->split_bytes,
				   parse->err);
	case KEY_ANONYMIZE:
		options->anonymize = true;
		return 0;
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

static const struct argp parser = {
	.options = table,
	.parser = on_option,
	.doc = "Write a piece of a trace, which is a valid trace of the same format."
	       "\v"
	       "Exit status: 0 written whole, 1 no trace, 2 wrong usage, 3 written up to a fault "
	       "in FILE.",
};

int options_cut(int argc, char **argv, struct cut_command_options *options, struct error *err)
{
	int rc = options_into(&parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->input || !options->output)
		return error_set(err, EINVAL, "cut needs a trace and -o FILE");
	if (options->has_last && (options->has_to || options->from_ns))
		return error_set(err, EINVAL, "--last excludes --from and --to");
	if (options->has_to && options->to_ns < options->from_ns)
		return error_set(err, EINVAL, "--to is before --from");
	if (options->max_bytes && options->split_bytes)
		return error_set(err, EINVAL, "--max-size excludes --split");
	if (options->split_bytes && options->output[0] == '-' && !options->output[1])
		return error_set(err, EINVAL, "--split needs a name for its files: -o FILE");
	return 0;
}

void options_help_cut(void)
{
	options_print_help(&parser, "gotrace cut [OPTION...] FILE -o FILE");
}
