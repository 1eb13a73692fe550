/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace sql: runs one query on a trace that is loaded into SQLite. */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/export.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "cli/sql_rules.h"
#include "sandbox/sandbox.h"
#include "util/json.h"
#include "util/message.h"
#include "util/text.h"

/* --- one row --- */

static void print_text(const char *text, size_t len)
{
	for (size_t at = 0, step; at < len; at += step) {
		uint32_t point = text_next(text + at, len - at, &step);

		if (text_is_printable(point))
			fwrite(text + at, 1, step, stdout);
		else
			putchar('?');
	}
}

static void print_csv_text(const char *text, size_t len)
{
	if (!memchr(text, ',', len) && !memchr(text, '"', len) && !memchr(text, '\n', len) &&
	    !memchr(text, '\r', len)) {
		print_text(text, len);
		return;
	}
	putchar('"');
	for (size_t at = 0; at < len; at++) {
		const char *end = memchr(text + at, '"', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;

		print_text(text + at, n);
		at += n;
		fputs(end ? "\"\"" : "", stdout);
	}
	putchar('"');
}

static void print_csv_value(sqlite3_stmt *query, int i)
{
	const char *text = (const char *)sqlite3_column_text(query, i);

	if (text)
		print_csv_text(text, (size_t)sqlite3_column_bytes(query, i));
}

static void print_json_value(struct json *json, sqlite3_stmt *query, int i)
{
	const char *name = sqlite3_column_name(query, i);

	switch (sqlite3_column_type(query, i)) {
	case SQLITE_INTEGER:
		json_integer(json, name, sqlite3_column_int64(query, i));
		break;
	case SQLITE_FLOAT:
		json_real(json, name, sqlite3_column_double(query, i));
		break;
	case SQLITE_NULL:
		json_text(json, name, NULL);
		break;
	default: {
		const char *text = (const char *)sqlite3_column_text(query, i);

		json_string(json, name, text ? text : "", (size_t)sqlite3_column_bytes(query, i));
	}
	}
}

static void sql_print_row(sqlite3_stmt *query, enum sql_output output)
{
	int n = sqlite3_column_count(query);
	struct json json = {.out = stdout};

	if (output == SQL_JSON)
		json_open(&json, NULL, '{');
	for (int i = 0; i < n; i++) {
		const char *text;

		if (output == SQL_JSON) {
			print_json_value(&json, query, i);
			continue;
		}
		if (i)
			putchar(output == SQL_CSV ? ',' : '\t');
		if (output == SQL_CSV) {
			print_csv_value(query, i);
			continue;
		}
		text = (const char *)sqlite3_column_text(query, i);
		print_text(text ? text : "-", text ? (size_t)sqlite3_column_bytes(query, i) : 1);
	}
	if (output == SQL_JSON)
		json_close(&json, '}');
	putchar('\n');
}

static void sql_print_names(sqlite3_stmt *query, enum sql_output output)
{
	for (int i = 0; i < sqlite3_column_count(query) && output != SQL_JSON; i++) {
		const char *name = sqlite3_column_name(query, i);

		if (i)
			putchar(output == SQL_CSV ? ',' : '\t');
		if (output == SQL_CSV)
			print_csv_text(name, strlen(name));
		else
			print_text(name, strlen(name));
	}
	if (output != SQL_JSON)
		putchar('\n');
}

/* --- the query --- */

static int sql_answer(sqlite3 *db, const struct sql_options *options, struct error *err)
{
	sqlite3_stmt *query = NULL;
	const char *rest = NULL;
	int rc;

	sql_rules_set(db);
	if (sqlite3_prepare_v2(db, options->query, -1, &query, &rest))
		return sql_rules_refusal(db, err);
	if (!query || rest[strspn(rest, " \t\r\n;")]) {
		sqlite3_finalize(query);
		return error_set(err, EINVAL, "sql takes one query, as in 'SELECT * FROM goroutine'");
	}
	sql_print_names(query, options->output);
	while ((rc = sqlite3_step(query)) == SQLITE_ROW && !ferror(stdout))
		sql_print_row(query, options->output);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		sql_rules_refusal(db, err);
	sqlite3_finalize(query);
	if (fflush(stdout) || ferror(stdout))
		return error_set(err, EIO, "cannot write to standard output");
	return rc == SQLITE_DONE ? 0 : -EINVAL;
}

static bool has_query_inside(const char *query)
{
	const char *first = strcasestr(query, "SELECT");

	return first && strcasestr(first + 1, "SELECT");
}

static int load_and_answer(sqlite3 *db, const struct sql_options *options, struct error *err)
{
	const struct export_options into = {.format = EXPORT_SQLITE, .database = db};
	struct trace_file file;
	int status = STATUS_WHOLE, rc = trace_file_open(&file, options->input, options->binary, err);

	if (!rc)
		rc = sandbox_confine(err);
	if (!rc)
		rc = trace_file_begin(&file, err);
	if (!rc)
		rc = export_file(&file, &into, err);
	if (!rc || rc == -EBADMSG) {
		status = trace_file_status(&file);
		rc = has_query_inside(options->query) ? export_sqlite_index(db) : 0;
		if (rc)
			error_set(err, -rc, "cannot index: %s", sqlite3_errmsg(db));
		else
			rc = sql_answer(db, options, err);
	}
	trace_file_close(&file);
	return rc ? rc : status;
}

/* A confined process cannot open the time zone's file, for a query's local times. */
static int sql_run(const struct sql_options *options, struct error *err)
{
	sqlite3 *db = NULL;
	int rc;

	tzset();
	if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL))
		rc = error_set(err, ENOMEM, "out of memory");
	else
		rc = load_and_answer(db, options, err);
	sqlite3_close(db);
	return rc;
}

int command_sql(int argc, char **argv)
{
	struct sql_options options;
	struct error err;
	int status;

	status = options_sql(argc, argv, &options, &err);
	if (status)
		return options_end(status, "gotrace sql", &err);
	signals_end_at_once(STATUS_NONE);
	status = sql_run(&options, &err);
	if (status >= 0)
		return status;
	message_error(&err);
	return STATUS_NONE;
}
