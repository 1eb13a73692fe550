/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/options_flight.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/options_recording.h"
#include "cli/values.h"
#include "flight/snapshot_socket.h"
#include "util/clock.h"

enum flight_key {
	KEY_WINDOW = 1000,
	KEY_MAX_BYTES,
	KEY_COMM,
	KEY_CGROUP,
	KEY_EXE,
	KEY_USER,
	KEY_NODE,
	KEY_ON,
	KEY_EVERY,
	KEY_AFTER,
	KEY_KEEP,
	/* Options that are refused with a reason. */
	KEY_ALLOC,
	KEY_CHILDREN,
	KEY_RAW,
};

enum { MAX_KEEP = 1000000 };

static const struct argp_option table[] = {
	{"pid", 'p', "PID", 0, "Record this process until it ends", 1},
	{"comm", KEY_COMM, "NAME", 0, "Record the process of this name (/proc/PID/comm), and its successors",
	 1},
	{"cgroup", KEY_CGROUP, "PATH", 0,
	 "Record the process in this cgroup (a path below /sys/fs/cgroup), and its successors", 1},
	{"exe", KEY_EXE, "PATH", 0, "Record the process that executes this file, and its successors", 1},
	{"user", KEY_USER, "NAME", 0,
	 "Record only processes of this user, a name or a number; with --comm, --cgroup, --exe or --node", 1},
	{"node", KEY_NODE, NULL, 0,
	 "Record every process of these at the same time, from when it is two seconds old; without --comm, "
	 "--cgroup, --exe and --user, every Go program of this machine",
	 1},
	{"output", 'o', "DIR", 0, "Write snapshots here (default: the current directory)", 1},
	{"window", KEY_WINDOW, "TIME", 0, "Keep at least this much of the recent past (default: 10s)", 1},
	{"max-bytes", KEY_MAX_BYTES, "BYTES", 0,
	 "Keep at most this much, whatever the window; with --node, all recorders together, but each 1M "
	 "(default: 64M)",
	 1},
	{"on", KEY_ON, "TRIGGER", 0,
	 "Write a snapshot when this happens: 'blocked>50ms', 'blocked:lock>50ms', 'runnable>10ms', "
	 "'syscall>100ms', 'gc-pause>5ms', 'goroutines>10000', 'queue>100', 'heap>2G', 'func "
	 "main.handle>100ms', 'request>200ms', 'request>200ms:GET /pay', 'finding>=medium', 'cpu>150%', "
	 "'cgroup-cpu>80%', 'throttled', 'rss>4G'; may be given several times",
	 2},
	{"every", KEY_EVERY, "TIME", 0,
	 "Minimum time between two files that the same trigger asks for (default: 10s)", 2},
	{"after", KEY_AFTER, "TIME", 0,
	 "Keep recording this long after a trigger matches (default: not at all)", 2},
	{"keep", KEY_KEEP, "N", 0,
	 "Keep at most N files of this recorder: when there are more, remove the oldest of the user, process "
	 "and trigger that have the most (default: 20; 0: keep all)",
	 2},
	{"quiet", 'q', NULL, 0, "Print errors and losses only", 3},
	{"alloc", KEY_ALLOC, NULL, OPTION_HIDDEN, NULL, 3},
	{"children", KEY_CHILDREN, NULL, OPTION_HIDDEN, NULL, 3},
	{"raw", KEY_RAW, "FILE", OPTION_HIDDEN, NULL, 3},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int add_trigger(void *options, const char *option, const char *text, struct error *err)
{
	struct flight_plan *plan = &((struct flight_options *)options)->plan;

	if (plan->ntriggers == MAX_TRIGGERS)
		return error_set(err, EINVAL, "%s: at most %d triggers", option, MAX_TRIGGERS);
	return trigger_parse(text, &plan->triggers[plan->ntriggers++], err);
}

/* Of two names, the last one would count without a word. */
static int set_filter(const char **member, const char *option, const char *text, struct error *err)
{
	if (*member)
		return error_set(err, EINVAL, "%s: given twice: start a recorder for each", option);
	*member = text;
	return 0;
}

static int set_comm(void *options, const char *option, const char *text, struct error *err)
{
	return set_filter(&((struct flight_options *)options)->filter.comm, option, text, err);
}

static int set_cgroup(void *options, const char *option, const char *text, struct error *err)
{
	return set_filter(&((struct flight_options *)options)->filter.cgroup, option, text, err);
}

static int set_exe(void *options, const char *option, const char *text, struct error *err)
{
	if (text[0] != '/')
		return error_set(err, EINVAL, "%s: '%s' is not an absolute path", option, text);
	return set_filter(&((struct flight_options *)options)->filter.exe, option, text, err);
}

static int set_user(void *options, const char *option, const char *text, struct error *err)
{
	struct process_filter *filter = &((struct flight_options *)options)->filter;

	filter->user = text;
	return parse_user(option, text, &filter->uid, err);
}

static int set_keep(void *options, const char *option, const char *text, struct error *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > MAX_KEEP)
		return error_set(err, EINVAL, "%s: '%s' is not a number from 0 to %d", option, text,
				 MAX_KEEP);
	((struct flight_options *)options)->keep = (unsigned)n;
	return 0;
}

static int set_max_bytes(void *options, const char *option, const char *text, struct error *err)
{
	uint64_t bytes = 0;
	int rc = parse_size(option, text, 1u << 20, 1ull << 36, &bytes, err);

	((struct flight_options *)options)->plan.max_bytes = (size_t)bytes;
	return rc;
}

/* --- options that only a trace has --- */
static int refuse_alloc(void *options, const char *option, const char *text, struct error *err)
{
	(void)options, (void)text;
	return error_set(err, EINVAL,
			 "%s: a flight recorder does not keep what the heap had before its "
			 "window: trace with gotrace -p PID --alloc",
			 option);
}

static int refuse_children(void *options, const char *option, const char *text, struct error *err)
{
	(void)options, (void)text;
	return error_set(err, EINVAL, "%s: a flight recorder records one process: start one for each",
			 option);
}

static int refuse_raw(void *options, const char *option, const char *text, struct error *err)
{
	(void)options, (void)text;
	return error_set(err, EINVAL,
			 "%s: a flight recorder keeps encoded generations, not the raw log: trace with "
			 "gotrace -p PID --raw",
			 option);
}

static int options_flight_refuse_operand(void *options, const char *option, const char *text,
					 struct error *err)
{
	(void)options, (void)option;
	return error_set(err, EINVAL, "'%s' is not an option", text);
}

static const struct option_binding bindings[] = {
	{OPTION_PID('p', flight_options, record.pid)},
	{OPTION_WITH(KEY_COMM, set_comm)},
	{OPTION_WITH(KEY_CGROUP, set_cgroup)},
	{OPTION_WITH(KEY_EXE, set_exe)},
	{OPTION_WITH(KEY_USER, set_user)},
	{OPTION_TRUE(KEY_NODE, flight_options, node)},
	{OPTION_TEXT('o', flight_options, dir)},
	{OPTION_DURATION(KEY_WINDOW, flight_options, plan.window_ns)},
	{OPTION_WITH(KEY_MAX_BYTES, set_max_bytes)},
	{OPTION_WITH(KEY_ON, add_trigger)},
	{OPTION_DURATION(KEY_EVERY, flight_options, every_ns)},
	{OPTION_DURATION(KEY_AFTER, flight_options, plan.after_ns)},
	{OPTION_WITH(KEY_KEEP, set_keep)},
	{OPTION_TRUE('q', flight_options, record.quiet)},
	{OPTION_WITH(KEY_ALLOC, refuse_alloc)},
	{OPTION_WITH(KEY_CHILDREN, refuse_children)},
	{OPTION_WITH(KEY_RAW, refuse_raw)},
	{OPTION_WITH(ARGP_KEY_ARG, options_flight_refuse_operand)},
	{OPTION_END},
};

static const struct argp_child children[] = {{.argp = &recording_common},
					     {.argp = &recording_functions},
					     {.argp = &recording_in_file},
					     {.argp = &recording_flight},
					     {.argp = NULL}};

/*
 * Of a program that mostly sleeps, a tenth of its CPU time is a few hits a second: without this allowance, a
 * recorder would be off all the time.
 */
#define FREE_SHARE 0.01

/* With --node: of each process. A ring of this size holds the hits of a saturated CPU for 0.2 s. */
#define NODE_FREE_SHARE 0.001
#define NODE_RING_BYTES (4u << 20)

/* Whether a trigger is for tasks, and nothing says which tasks to record. */
static bool needs_requests(const struct flight_options *options)
{
	bool wanted = false;

	for (unsigned i = 0; i < options->plan.ntriggers; i++)
		wanted |= options->plan.triggers[i].kind == TRIGGER_REQUEST;
	for (unsigned i = 0; i < options->record.nfunctions; i++)
		wanted &= options->record.functions[i].kind != FUNCTION_TASK;
	return wanted && !options->record.requests;
}

static bool has_filter(const struct process_filter *filter)
{
	return filter->comm || filter->cgroup || filter->exe || filter->user;
}

/* Fills in defaults. An option that was given is never 0. */
static void fill_in(struct flight_options *options)
{
	if (!options->record.max_overhead && options->record.detail != DETAIL_EXACT)
		options->record.max_overhead = 10;
	options->record.free_share = options->node ? NODE_FREE_SHARE : FREE_SHARE;
	if (options->node && !options->record.ring_bytes)
		options->record.ring_bytes = NODE_RING_BYTES;
	options->filter.below = options->node;
	if (options->node && !has_filter(&options->filter) && options->record.as == AS_IT_IS)
		options->record.as = AS_GO;
	if (!options->dir)
		options->dir = ".";
	if (needs_requests(options)) {
		options->record.requests = "auto";
		options->record.requests_if_any = true;
	}
}

static int options_flight_check_together(const struct flight_options *options, struct error *err)
{
	const struct process_filter *filter = &options->filter;
	bool found = filter->comm || filter->cgroup || filter->exe;

	if (options->record.pid && (has_filter(filter) || options->node))
		return error_set(err, EINVAL, "-p PID excludes --comm, --cgroup, --exe, --user and --node");
	if (!options->record.pid && !found && !options->node)
		return error_set(err, EINVAL,
				 "no process given: use -p PID, --comm NAME, --exe PATH, --cgroup PATH or "
				 "--node");
	if (options->plan.after_ns && !options->plan.ntriggers)
		return error_set(err, EINVAL, "--after needs a trigger: give --on");
	return recording_check(&options->record, err);
}

static const struct option_parser flight_parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .children = children,
		 .doc = "Keep the last seconds of a running process in memory, and write them as a Go "
			"execution trace "
			"on SIGUSR1, on gotrace snapshot, on a trigger, or when the process ends."
			"\v"
			"Examples:\n  sudo gotrace flight -p 1234 -o /var/tmp/flight\n  sudo gotrace "
			"snapshot "
			"-p 1234   write what is kept now, print the file's name\n  sudo "
			"gotrace flight --comm server --user www --on 'blocked>50ms' --after 2s --every 1m "
			"-o "
			"/var/tmp/flight\nExit status: 0 ended normally, 1 could not record, 2 wrong usage, "
			"3 something was lost."},
	.bindings = bindings,
	.usage = "gotrace flight [OPTION...] -p PID\n"
		 "       gotrace flight [OPTION...] --comm NAME | --exe PATH | --cgroup PATH [--user NAME]\n"
		 "       gotrace flight [OPTION...] --node [--comm NAME] [--exe PATH] [--cgroup PATH] "
		 "[--user NAME]",
};

int options_flight(int argc, char **argv, struct flight_options *options, struct error *err)
{
	struct recording_parse parse = {.options = &options->record, .err = err};
	int rc;

	*options = (struct flight_options){
		.record = recording_defaults(),
		.plan = {.window_ns = 10 * 1000000000ull, .max_bytes = 64u << 20},
		.every_ns = 10 * 1000000000ull,
		.keep = 20,
	};
	rc = options_parse(&flight_parser, argc, argv, options, &parse, err);
	if (rc)
		return rc;
	rc = options_flight_check_together(options, err);
	fill_in(options);
	return rc;
}

/* --- gotrace snapshot --- */

enum snapshot_key {
	KEY_ALL = 2000,
	KEY_AT,
	KEY_LAST,
};

static const struct argp_option snapshot_table[] = {
	{"pid", 'p', "PID", 0, "The recorded process, or its recorder", 1},
	{"all", KEY_ALL, NULL, 0, "Every recorder here (that your user may ask)", 1},
	{"at", KEY_AT, "TIME", 0,
	 "End at this wall-clock time, now or later, or before: 2026-11-26T21:05:00.25Z, @SECONDS (default: "
	 "now)",
	 1},
	{"last", KEY_LAST, "TIME", 0,
	 "Only this much before that time: 5s, 500ms (default: all that is kept)", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int set_recorder(void *member, const char *option, const char *text, struct error *err)
{
	struct snapshot_options *options = member;

	if (options->pid)
		return error_set(err, EINVAL, "only one recorder can be given");
	return parse_pid(*option == '-' ? option : "PID", text, &options->pid, err);
}

static int set_at(void *member, const char *option, const char *text, struct error *err)
{
	return parse_wall_time(option, text, &((struct snapshot_options *)member)->at_ns, err);
}

static int set_last_part(void *member, const char *option, const char *text, struct error *err)
{
	struct snapshot_options *options = member;
	int rc = parse_time(option, text, &options->last_ns, err);

	if (rc == 0 && !options->last_ns)
		return error_set(err, EINVAL, "%s: a snapshot of no time would be empty", option);
	return rc;
}

static const struct option_binding snapshot_bindings[] = {
	{OPTION_WITH('p', set_recorder)},
	{OPTION_WITH(ARGP_KEY_ARG, set_recorder)},
	{OPTION_TRUE(KEY_ALL, snapshot_options, all)},
	{OPTION_WITH(KEY_AT, set_at)},
	{OPTION_WITH(KEY_LAST, set_last_part)},
	{OPTION_END},
};

static const struct option_parser snapshot_parser = {
	.argp = {.options = snapshot_table,
		 .parser = options_take,
		 .doc = "Make a running gotrace flight write a snapshot, wait until it is written, and print "
			"the name "
			"of the file. With --all, every recorder writes one; with --at and --last, each has "
			"the "
			"same seconds."},
	.bindings = snapshot_bindings,
	.usage = "gotrace snapshot -p PID | --all",
};

int options_snapshot(int argc, char **argv, struct snapshot_options *options, struct error *err)
{
	int rc;

	*options = (struct snapshot_options){0};
	rc = options_parse(&snapshot_parser, argc, argv, options, NULL, err);
	if (rc == 0 && options->pid && options->all)
		return error_set(err, EINVAL, "--all excludes -p");
	if (rc == 0 && options->at_ns > clock_ns(CLOCK_REALTIME) + WINDOW_AHEAD_NS)
		return error_set(err, EINVAL, "--at: more than an hour from now");
	if (rc == 0 && !options->pid && !options->all)
		return error_set(err, EINVAL,
				 "no recorder given: use -p with the PID of the recorded process, or --all");
	return rc;
}
