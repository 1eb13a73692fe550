/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of the commands that take one operand: replay, check, dump; and of sites. */
#include "cli/options.h"

#include <errno.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/values.h"
#include "target/functions/value_list.h"

enum files_key {
	KEY_FORMAT = 1000,
	KEY_JSON,
	KEY_STATS,
	KEY_OS,
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
	{"os", KEY_OS, "TIME", 0,
	 "Mark where a running goroutine had no CPU for this long (default: 1ms); all: for any time; "
	 "summary: no marks",
	 1},
	OPTION_OLD("os-regions", KEY_OS_REGIONS, "TIME"),
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

/* What the log has cannot be switched off, and "all" is every interval in it. */
static int set_replay_os(void *member, const char *option, const char *text, struct error *err)
{
	uint64_t *regions_ns = &((struct replay_options *)member)->trace_options.off_cpu_ns;
	struct os_detail os;
	int rc = parse_os(option, text, &os, regions_ns, err);

	if (rc == 0 && os.off)
		return error_set(err, EINVAL, "%s=off is for recording; without marks: %s=summary", option,
				 option);
	if (rc == 0 && os.cpus && !*regions_ns)
		*regions_ns = 1;
	return rc;
}

static const struct option_binding replay_bindings[] = {
	{OPTION_FILE(replay_options, input)},
	{OPTION_TEXT('o', replay_options, output)},
	{OPTION_FORMAT(KEY_FORMAT, replay_options, trace_options.format)},
	{OPTION_TRUE(KEY_RUNTIME_FRAMES, replay_options, trace_options.runtime_frames)},
	{OPTION_TRUE(KEY_JSON, replay_options, json)},
	{OPTION_TRUE(KEY_STATS, replay_options, style.stats)},
	{OPTION_WITH(KEY_OS, set_replay_os)},
	{OPTION_OS_REGIONS(KEY_OS_REGIONS, replay_options, trace_options.off_cpu_ns)},
	{OPTION_TRUE(KEY_LOCKS, replay_options, trace_options.locks)},
	{OPTION_SORT(KEY_SORT, replay_options, style.sort)},
	{OPTION_TRUE('q', replay_options, quiet)},
	{OPTION_END},
};

static const struct option_parser replay_parser = {
	.argp = {.options = replay_table,
		 .parser = options_take,
		 .doc = "Make a trace from a raw log that gotrace --raw wrote. No privilege is needed."
			"\v"
			"Exit status: 0 written whole, 1 no trace, 2 wrong usage, 3 written but something "
			"was lost or cut."},
	.bindings = replay_bindings,
	.usage = "gotrace replay [OPTION...] RAW -o FILE",
};

int options_replay(int argc, char **argv, struct replay_options *options, struct error *err)
{
	int rc;

	*options = (struct replay_options){0};
	rc = options_parse(&replay_parser, argc, argv, options, NULL, err);
	if (rc)
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

static const struct option_binding check_bindings[] = {
	{OPTION_FILE(check_options, input)},
	{OPTION_TRUE(KEY_REPAIR, check_options, repair)},
	{OPTION_TRUE(KEY_JSON, check_options, json)},
	{OPTION_END},
};

static const struct option_parser check_parser = {
	.argp = {.options = check_table,
		 .parser = options_take,
		 .doc = "Check whether a Go execution trace (of any format) is valid, and print what is in "
			"it."
			"\v"
			"Exit status: 0 valid, 1 not valid or not readable, 2 wrong usage, 3 valid up to a "
			"point."},
	.bindings = check_bindings,
	.usage = "gotrace check [OPTION...] FILE",
};

int options_check(int argc, char **argv, struct check_options *options, struct error *err)
{
	int rc;

	*options = (struct check_options){0};
	rc = options_parse(&check_parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->input)
		return error_set(err, EINVAL, "no file given to check");
	return 0;
}

static const struct argp_option dump_table[] = {
	{"stacks", KEY_STACKS, NULL, 0, "Print the frames of each event's stack below it", 1},
	{"absolute", KEY_ABSOLUTE, NULL, 0,
	 "Print times of the file's own clock instead of times since its start", 1},
	{"json", KEY_JSON, NULL, 0, "Print one JSON object per line", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const struct option_binding dump_bindings[] = {
	{OPTION_FILE(dump_options, input)},
	{OPTION_TRUE(KEY_STACKS, dump_options, stacks)},
	{OPTION_TRUE(KEY_ABSOLUTE, dump_options, absolute)},
	{OPTION_TRUE(KEY_JSON, dump_options, json)},
	{OPTION_END},
};

static const struct option_parser dump_parser = {
	.argp = {.options = dump_table,
		 .parser = options_take,
		 .doc = "Print the events of a Go execution trace (of any format) in order, one per line: "
			"time in ns, "
			"name, thread, P and goroutine (- is none), arguments.\vIf the file is invalid, the "
			"events "
			"before the first fault are printed.\nExit status: 0 "
			"valid, 1 not valid or not readable, 2 wrong usage, 3 valid up to a point."},
	.bindings = dump_bindings,
	.usage = "gotrace dump [OPTION...] FILE",
};

int options_dump(int argc, char **argv, struct dump_options *options, struct error *err)
{
	int rc;

	*options = (struct dump_options){0};
	rc = options_parse(&dump_parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->input)
		return error_set(err, EINVAL, "no file given to print");
	return 0;
}

enum sites_key { KEY_FUNCTION = 1000, KEY_REGION, KEY_LIST };

static const struct argp_option sites_table[] = {
	{"pid", 'p', "PID", 0, "The process", 1},
	{"function", KEY_FUNCTION, "FUNC", 0,
	 "Print only where calls of this function would be probed, and where each argument would be read; "
	 "FUNC is as for gotrace --region. May be repeated",
	 1},
	{"list", KEY_LIST, "PREFIX", 0,
	 "Print only the functions that begin with PREFIX, for gotrace --region and --task; of C libraries, "
	 "if "
	 "the program has none",
	 1},
	OPTION_OLD("region", KEY_REGION, "FUNC"),
	OPTIONS_LAYOUT(1),
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int options_files_add_function(void *member, const char *option, const char *text, struct error *err)
{
	struct sites_options *options = member;
	struct value_list list;
	struct error why;

	if (!*text || options->nfunctions == MAX_FUNCTIONS)
		return error_set(err, EINVAL, "%s: %s", option,
				 *text ? "too many functions" : "no function given");
	if (value_list_parse(text, &list, &why))
		return error_set(err, EINVAL, "%s: %s", option, why.text);
	options->functions[options->nfunctions++] =
		(struct function_want){.text = text, .kind = FUNCTION_REGION};
	return 0;
}

static int set_sites_pid(void *member, const char *option, const char *text, struct error *err)
{
	struct sites_options *options = member;

	if (options->pid)
		return error_set(err, EINVAL, "only one process can be given");
	return parse_pid(*option == '-' ? option : "sites", text, &options->pid, err);
}

static const struct option_binding sites_bindings[] = {
	{OPTION_WITH(ARGP_KEY_ARG, set_sites_pid)},
	{OPTION_WITH('p', set_sites_pid)},
	{OPTION_WITH(KEY_FUNCTION, options_files_add_function)},
	{OPTION_WITH(KEY_REGION, options_files_add_function)},
	{OPTION_TEXT(KEY_LIST, sites_options, list)},
	{OPTION_TEXT(OPTIONS_LAYOUT_KEY, sites_options, layout)},
	{OPTION_END},
};

static const struct option_parser sites_parser = {
	.argp = {.options = sites_table,
		 .parser = options_take,
		 .doc = "Print where gotrace would probe this process: FUNCTION+OFFSET INSTRUCTION SITE "
			"FILEOFFSET. Those of a plugin follow a line with its name."},
	.bindings = sites_bindings,
	.usage = "gotrace sites [OPTION...] -p PID",
};

int options_sites(int argc, char **argv, struct sites_options *options, struct error *err)
{
	int rc;

	*options = (struct sites_options){0};
	rc = options_parse(&sites_parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->pid)
		return error_set(err, EINVAL, "no process given: use -p PID");
	if (options->list && options->nfunctions)
		return error_set(err, EINVAL, "--list and --function exclude each other");
	return 0;
}
