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

static int set_csv(void *options, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	((struct sql_options *)options)->output = SQL_CSV;
	return 0;
}

static int set_json(void *options, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	((struct sql_options *)options)->output = SQL_JSON;
	return 0;
}

static int set_operand(void *options, const char *option, const char *text, struct error *err)
{
	struct sql_options *sql = options;

	(void)option;
	if (sql->input && sql->query)
		return error_set(err, EINVAL, "sql takes one trace and one query: put the query in quotes");
	*(sql->input ? &sql->query : &sql->input) = text;
	return 0;
}

static const struct option_binding bindings[] = {
	{OPTION_WITH(ARGP_KEY_ARG, set_operand)},
	{OPTION_WITH(KEY_CSV, set_csv)},
	{OPTION_WITH(KEY_JSON, set_json)},
	{OPTION_TEXT(KEY_BINARY, sql_options, binary)},
	{OPTION_END},
};

static const struct option_parser parser = {
	.argp = {.options = table,
		 .parser = options_take,
		 .doc = "Query a trace in SQL. Tables: goroutine, state, wakeup, stack, frame, syscall, "
			"task, "
			"region, log, sample, gc, metric, thread_state, info."
			"\v"
			"Exit status: 0 answered, 1 no answer, 2 wrong usage, 3 answered up to a fault in "
			"FILE."},
	.bindings = bindings,
	.usage = "gotrace sql [OPTION...] FILE 'SELECT ...'",
};

int options_sql(int argc, char **argv, struct sql_options *options, struct error *err)
{
	int rc;

	*options = (struct sql_options){0};
	rc = options_parse(&parser, argc, argv, options, NULL, err);
	if (rc)
		return rc;
	if (!options->input || !options->query)
		return error_set(err, EINVAL, "sql needs a trace and a query");
	return 0;
}
