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
	{"duration", 'd', "TIME", 0, "Read the goroutines twice, this far apart (default: 2s); 0: once", 1},
	{"max", KEY_MAX, "N", 0, "Read at most this many goroutines (default: 1000000)", 1},
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

static int parse_by(const char *text, struct ps_options *options, struct error *err)
{
	static const char label[] = "label:";

	options->by_labels = strcmp(text, "labels") == 0;
	options->by_label = NULL;
	if (strncmp(text, label, sizeof(label) - 1) == 0 && text[sizeof(label) - 1])
		options->by_label = text + sizeof(label) - 1;
	if (!options->by_labels && !options->by_label && strcmp(text, "stack") != 0)
		return error_set(err, EINVAL, "--by: '%s' is not stack, labels or label:KEY", text);
	return 0;
}

static int parse_most(const char *text, uint32_t *most, struct error *err)
{
	uint64_t n;
	int rc = parse_id("--max", text, &n, err);

	if (rc == 0 && n > MAX_ALLOWED)
		return error_set(err, EINVAL, "--max: %s is more than %u", text, MAX_ALLOWED);
	*most = rc ? 0 : (uint32_t)n;
	return rc;
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct ps_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return -error_set(parse->err, EINVAL, "ps takes no argument: '%s'; the process is -p PID",
				  text);
	case 'p':
		return -parse_pid("-p", text, &options->pid, parse->err);
	case 'd':
		return -parse_time("-d", text, &options->between_ns, parse->err);
	case KEY_MAX:
		return -parse_most(text, &options->most, parse->err);
	case KEY_BY:
		return -parse_by(text, options, parse->err);
	case OPTIONS_LAYOUT_KEY:
		options->layout = text;
		return 0;
	case KEY_ALL:
		options->all = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	case ARGP_KEY_INIT:
		options->between_ns = BETWEEN_NS;
		options->most = MOST;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = table,
	.parser = on_option,
	.doc = "Print the goroutines that a Go program has now, grouped by stack: how many, what "
	       "they wait for and how long, where they were created, and their pprof labels. "
	       "Nothing is attached to the program: its memory is read twice. Goroutines that wait for a "
	       "channel, a select or a lock and did not move in between come first, because they may be "
	       "leaked."
	       "\v"
	       "Exit status: 0 printed, 1 the process cannot be read, 2 wrong usage, 3 incomplete (--max, or "
	       "unreadable memory).",
};

int options_ps(int argc, char **argv, struct ps_options *options, struct error *err)
{
	int rc = options_into(&parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->pid)
		return error_set(err, EINVAL, "no process given: use -p PID");
	return 0;
}

void options_help_ps(void)
{
	options_print_help(&parser, "gotrace ps -p PID [OPTION...]");
}
