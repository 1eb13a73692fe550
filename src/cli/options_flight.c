/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/options_flight.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options_common.h"
#include "cli/options_recording.h"
#include "cli/values.h"

enum flight_key {
	KEY_WINDOW = 1000,
	KEY_MAX_BYTES,
	KEY_COMM,
	KEY_CGROUP,
	KEY_ON,
	KEY_EVERY,
	KEY_AFTER,
	KEY_KEEP,
	/* Refused, with a reason. */
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
	{"output", 'o', "DIR", 0, "Write snapshots here (default: the current directory)", 1},
	{"window", KEY_WINDOW, "TIME", 0, "Keep at least this much of the recent past (default: 10s)", 1},
	{"max-bytes", KEY_MAX_BYTES, "BYTES", 0, "Keep at most this much, whatever the window (default: 64M)",
	 1},
	{"on", KEY_ON, "TRIGGER", 0,
	 "Write a snapshot when this happens: 'blocked>50ms', 'blocked:sync>50ms', 'runnable>10ms', "
	 "'syscall>100ms', 'gc-pause>5ms', 'goroutines>10000', 'func main.handle>100ms'; may be given "
	 "several "
	 "times",
	 2},
	{"every", KEY_EVERY, "TIME", 0, "Minimum time between two files written by triggers (default: 10s)",
	 2},
	{"after", KEY_AFTER, "TIME", 0,
	 "Keep recording this long after a trigger matches (default: not at all)", 2},
	{"keep", KEY_KEEP, "N", 0,
	 "Keep at most N of the recorder's files and remove the oldest (default: 20; 0: keep all)", 2},
	{"quiet", 'q', NULL, 0, "Print errors and losses only", 3},
	{"alloc", KEY_ALLOC, NULL, OPTION_HIDDEN, NULL, 3},
	{"children", KEY_CHILDREN, NULL, OPTION_HIDDEN, NULL, 3},
	{"raw", KEY_RAW, "FILE", OPTION_HIDDEN, NULL, 3},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static int add_trigger(struct flight_plan *plan, const char *text, struct error *err)
{
	if (plan->ntriggers == MAX_TRIGGERS)
		return error_set(err, EINVAL, "--on: at most %d triggers", MAX_TRIGGERS);
	return trigger_parse(text, &plan->triggers[plan->ntriggers++], err);
}

static int set_keep(struct flight_options *options, const char *text, struct error *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > MAX_KEEP)
		return error_set(err, EINVAL, "--keep: '%s' is not a number from 0 to %d", text, MAX_KEEP);
	options->keep = (unsigned)n;
	return 0;
}

static int set_bytes(const char *name, const char *text, uint64_t min, uint64_t max, size_t *to,
		     struct error *err)
{
	uint64_t bytes = 0;
	int rc = parse_size(name, text, min, max, &bytes, err);

	*to = (size_t)bytes;
	return rc;
}

/* These work in a trace alone. */
static int refuse_option(int key, struct error *err)
{
	if (key == KEY_ALLOC)
		return error_set(err, EINVAL,
				 "--alloc: a flight recorder does not keep what the heap had before its "
				 "window: trace with gotrace -p PID --alloc");
	if (key == KEY_CHILDREN)
		return error_set(err, EINVAL,
				 "--children: a flight recorder records one process: start one for each");
	return error_set(err, EINVAL,
			 "--raw: a flight recorder keeps encoded generations, not the raw log: trace with "
			 "gotrace -p PID --raw");
}

static int set_value(struct flight_options *options, int key, char *text, struct error *err)
{
	switch (key) {
	case 'p':
		return parse_pid("-p", text, &options->record.pid, err);
	case KEY_COMM:
		options->comm = text;
		return 0;
	case KEY_CGROUP:
		options->cgroup = text;
		return 0;
	case 'o':
		options->dir = text;
		return 0;
	case KEY_WINDOW:
		return parse_duration("--window", text, &options->plan.window_ns, err);
	case KEY_MAX_BYTES:
		return set_bytes("--max-bytes", text, 1u << 20, 1ull << 36, &options->plan.max_bytes, err);
	case KEY_ON:
		return add_trigger(&options->plan, text, err);
	case KEY_EVERY:
		return parse_duration("--every", text, &options->every_ns, err);
	case KEY_AFTER:
		return parse_duration("--after", text, &options->plan.after_ns, err);
	case KEY_KEEP:
		return set_keep(options, text, err);
	default:
		return refuse_option(key, err);
	}
}

static int set_flag(struct flight_options *options, int key, struct error *err)
{
	switch (key) {
	case 'q':
		options->record.quiet = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	case KEY_ALLOC:
	case KEY_CHILDREN:
		return -refuse_option(key, err);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{.argp = &recording_common},
					     {.argp = &recording_functions},
					     {.argp = &recording_in_file},
					     {.argp = &recording_flight},
					     {.argp = NULL}};

struct flight_parse {
	struct flight_options *options;
	struct recording_parse recording;
};

static error_t on_option(int key, char *text, struct argp_state *state)
{
	struct flight_parse *parse = state->input;
	struct error *err = parse->recording.err;

	if (key == ARGP_KEY_INIT)
		recording_inputs(state, children, &parse->recording);
	if (key == ARGP_KEY_ARG)
		return -error_set(err, EINVAL, "'%s' is not an option", text);
	return text ? -set_value(parse->options, key, text, err) : set_flag(parse->options, key, err);
}

/*
 * A program that mostly sleeps takes so little CPU time that a tenth of it is
 * a few hits a second: a recorder that is always off for that would be of no use.
 */
#define FREE_SHARE 0.01

/* What is left to its default is filled in here: an option that is given is never 0. */
static void fill_in(struct flight_options *options)
{
	if (!options->record.max_overhead && !options->record.exact)
		options->record.max_overhead = 10;
	options->record.free_share = FREE_SHARE;
	if (!options->dir)
		options->dir = ".";
}

static int check_together(const struct flight_options *options, struct error *err)
{
	int ways = (options->record.pid != 0) + (options->comm != NULL) + (options->cgroup != NULL);

	if (ways != 1)
		return error_set(err, EINVAL, "no process given: use -p PID, --comm NAME or --cgroup PATH");
	if (options->plan.after_ns && !options->plan.ntriggers)
		return error_set(err, EINVAL, "--after needs a trigger: give --on");
	return recording_check(&options->record, err);
}

static const struct argp flight_parser = {
	.options = table,
	.parser = on_option,
	.children = children,
	.doc = "Keep the last seconds of a running process in memory, and write them as a Go execution trace "
	       "on SIGUSR1, on gotrace snapshot, on a trigger, or when the process ends."
	       "\v"
	       "Examples:\n  sudo gotrace flight -p 1234 -o /var/tmp/flight\n  sudo gotrace snapshot "
	       "RECORDER-PID      write what is kept now, print the file's name\n  sudo "
	       "gotrace flight --comm server --on 'blocked>50ms' --after 2s --every 1m -o "
	       "/var/tmp/flight\nExit status: 0 ended normally, 1 could not record, 2 wrong usage, "
	       "3 something was lost.",
};

int options_flight(int argc, char **argv, struct flight_options *options, struct error *err)
{
	struct flight_parse parse = {.options = options,
				     .recording = {.options = &options->record, .err = err}};
	int rc;

	*options = (struct flight_options){
		.record = recording_defaults(),
		.plan = {.window_ns = 10 * 1000000000ull, .max_bytes = 64u << 20},
		.every_ns = 10 * 1000000000ull,
		.keep = 20,
	};
	err->text[0] = '\0';
	rc = options_parse(&flight_parser, argc, argv, &parse);
	if (rc || options->help)
		return rc;
	rc = check_together(options, err);
	fill_in(options);
	return rc;
}

void options_help_flight(void)
{
	options_print_help(&flight_parser, "gotrace flight [OPTION...] -p PID\n"
					   "       gotrace flight [OPTION...] --comm NAME\n"
					   "       gotrace flight [OPTION...] --cgroup PATH");
}

/* --- gotrace snapshot --- */

static const struct argp_option snapshot_table[] = {
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t on_snapshot(int key, char *text, struct argp_state *state)
{
	struct option_target *target = state->input;
	struct snapshot_options *options = target->options;

	if (key == ARGP_KEY_ARG) {
		if (options->pid)
			return -error_set(target->err, EINVAL, "only one recorder can be given");
		return -parse_pid("PID", text, &options->pid, target->err);
	}
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	options->help = true;
	return 0;
}

static const struct argp snapshot_parser = {
	.options = snapshot_table,
	.parser = on_snapshot,
	.doc = "Make a running gotrace flight write a snapshot, wait until it is written, and print the name "
	       "of the file.",
};

int options_snapshot(int argc, char **argv, struct snapshot_options *options, struct error *err)
{
	int rc = options_into(&snapshot_parser, argc, argv, options, sizeof(*options), err);

	if (rc == 0 && !options->help && !options->pid)
		return error_set(err, EINVAL, "no recorder given: give the PID that gotrace flight printed");
	return rc;
}

void options_help_snapshot(void)
{
	options_print_help(&snapshot_parser, "gotrace snapshot RECORDER-PID");
}
