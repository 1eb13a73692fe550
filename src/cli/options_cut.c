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
	KEY_MAX_FILES,
	KEY_MAX_TOTAL,
	KEY_ANONYMIZE,
};

enum { MIN_SIZE = 4 << 10 };

static const struct argp_option table[] = {
	{"output", 'o', "FILE", 0,
	 "Write the piece here; - is standard output. With --split: FILE.1, FILE.2, ...", 1},
	{"from", KEY_FROM, "TIME", 0,
	 "Begin this long after the start of the trace: 1.5s, 300ms, 20us, 800ns; or at this wall-clock "
	 "time: "
	 "2026-11-26T21:05:00.25Z, @SECONDS",
	 1},
	{"to", KEY_TO, "TIME", 0, "End there, as --from", 1},
	{"last", KEY_LAST, "TIME", 0, "Keep only this much from the end of the trace", 1},
	{"goroutine", KEY_GOROUTINE, "ID", 0, "Keep only this goroutine; may be repeated", 1},
	{"task", KEY_TASK, "ID", 0, "Keep only the goroutines that take part in this task, while it lasts",
	 1},
	{"max-size", KEY_MAX_SIZE, "BYTES", 0, "End before the piece exceeds this size: 500k, 10M", 1},
	{"split", KEY_SPLIT, "BYTES", 0, "Write the whole trace, in pieces of at most about this size", 1},
	{"max-files", KEY_MAX_FILES, "N", 0,
	 "With --split: refuse if there would be more files (default: 1000)", 1},
	{"max-total", KEY_MAX_TOTAL, "BYTES", 0,
	 "With --split: refuse if the files would have more than this in all (default: ten times the trace, "
	 "at "
	 "least 64M)",
	 1},
	{"anonymize", KEY_ANONYMIZE, NULL, 0, "Replace names and paths by numbers", 1},
	{"quiet", 'q', NULL, 0, "Print errors only", 2},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int add_goroutine(void *member, const char *option, const char *text, struct error *err)
{
	struct cut_command_options *options = member;

	if (options->ngoids == MAX_CUT_GOROUTINES)
		return error_set(err, EINVAL, "%s: more than %d", option, MAX_CUT_GOROUTINES);
	return parse_id(option, text, &options->goids[options->ngoids++], err);
}

static int set_from(void *member, const char *option, const char *text, struct error *err)
{
	return parse_moment(option, text, &((struct cut_command_options *)member)->from, err);
}

static int set_to(void *member, const char *option, const char *text, struct error *err)
{
	struct cut_command_options *options = member;

	options->has_to = true;
	return parse_moment(option, text, &options->to, err);
}

static int set_last(void *member, const char *option, const char *text, struct error *err)
{
	struct cut_command_options *options = member;

	options->has_last = true;
	return parse_time(option, text, &options->last_ns, err);
}

static int set_size(void *bytes, const char *option, const char *text, struct error *err)
{
	return parse_size(option, text, MIN_SIZE, UINT64_MAX / 2, bytes, err);
}

static const struct option_binding bindings[] = {
	{OPTION_FILE(cut_command_options, input)},
	{OPTION_TEXT('o', cut_command_options, output)},
	{OPTION_WITH(KEY_FROM, set_from)},
	{OPTION_WITH(KEY_TO, set_to)},
	{OPTION_WITH(KEY_LAST, set_last)},
	{OPTION_WITH(KEY_GOROUTINE, add_goroutine)},
	{OPTION_ID(KEY_TASK, cut_command_options, task)},
	{KEY_MAX_SIZE, OPTION_MEMBER(uint64_t, cut_command_options, max_bytes), set_size},
	{KEY_SPLIT, OPTION_MEMBER(uint64_t, cut_command_options, split_bytes), set_size},
	{OPTION_ID(KEY_MAX_FILES, cut_command_options, max_files)},
	{KEY_MAX_TOTAL, OPTION_MEMBER(uint64_t, cut_command_options, max_total), set_size},
	{OPTION_TRUE(KEY_ANONYMIZE, cut_command_options, anonymize)},
	{OPTION_TRUE('q', cut_command_options, quiet)},
	{OPTION_END},
};

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .doc = "Write a piece of a trace, which is a valid trace of the same format."
			"\v"
			"Exit status: 0 written whole, 1 no trace, 2 wrong usage, 3 written up to a fault "
			"in FILE."},
	.bindings = bindings,
	.usage = "gotrace cut [OPTION...] FILE -o FILE",
};

int options_cut(int argc, char **argv, struct cut_command_options *options, struct error *err)
{
	int rc;

	*options = (struct cut_command_options){0};
	rc = options_parse(&parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->input || !options->output)
		return error_set(err, EINVAL, "cut needs a trace and -o FILE");
	if (options->has_last && (options->has_to || options->from.ns))
		return error_set(err, EINVAL, "--last excludes --from and --to");
	if (options->has_to && options->to.is_wall == options->from.is_wall &&
	    options->to.ns < options->from.ns)
		return error_set(err, EINVAL, "--to is before --from");
	if (options->max_bytes && options->split_bytes)
		return error_set(err, EINVAL, "--max-size excludes --split");
	if ((options->max_files || options->max_total) && !options->split_bytes)
		return error_set(err, EINVAL, "--max-files and --max-total are limits of --split");
	if (options->split_bytes && options->output[0] == '-' && !options->output[1])
		return error_set(err, EINVAL, "--split needs a name for its files: -o FILE");
	return 0;
}
