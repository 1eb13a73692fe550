/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of gotrace sql. */
#include "cli/options.h"

#include <errno.h>

#include "cli/options_common.h"

enum sql_key {
	KEY_BINARY = 1000,
	KEY_CSV,
	KEY_JSON,
};

static const struct argp_option table[] = {
	{"csv", KEY_CSV, NULL, 0, "Print comma-separated values, with a header line", 1},
	{"json", KEY_JSON, NULL, 0, "Print one JSON object per row, one per line", 1},
	{"binary", KEY_BINARY, "FILE", 0,
	 "Take names from the traced program, for traces of Go 1.5, 1.6 and v0", 1},
	OPTIONS_HELP,
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t take(struct sql_options *options, const char *text, struct error *err)
{
	if (!options->input)
		options->input = text;
	else if (!options->query)
		options->query = text;
	else
		return -error_set(err, EINVAL, "sql takes one trace and one query: put the query in quotes");
	return 0;
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
	const struct option_target *parse = state->input;
	struct sql_options *options = parse->options;

	switch (key) {
	case ARGP_KEY_ARG:
		return take(options, text, parse->err);
	case KEY_CSV:
		options->output = SQL_CSV;
		return 0;
	case KEY_JSON:
		options->output = SQL_JSON;
		return 0;
	case KEY_BINARY:
		options->binary = text;
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
	.doc = "Query a trace in SQL. Tables: goroutine, state, wakeup, stack, frame, syscall, task, "
	       "region, log, sample, gc, metric, thread_state, info."
	       "\v"
	       "Exit status: 0 answered, 1 no answer, 2 wrong usage, 3 answered up to a fault in FILE.",
};

int options_sql(int argc, char **argv, struct sql_options *options, struct error *err)
{
	int rc = options_into(&parser, argc, argv, options, sizeof(*options), err);

	if (rc || options->help)
		return rc;
	if (!options->input || !options->query)
		return error_set(err, EINVAL, "sql needs a trace and a query");
	return 0;
}

void options_help_sql(void)
{
	options_print_help(&parser, "gotrace sql [OPTION...] FILE 'SELECT ...'");
}
