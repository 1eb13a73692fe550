/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/sql_rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Functions of SQLite that compute a value from their arguments (lang_corefunc, lang_aggfunc,
 * windowfunctions, lang_datefunc, lang_mathfunc, json1 on sqlite.org). All others are refused: they load
 * code, change the connection, or say something about the machine.
 */
static const char functions[] =
	" -> ->> abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like "
	"likelihood"
	" likely lower ltrim nullif octet_length printf quote replace round rtrim sign substr substring trim"
	" typeof unhex unicode unistr unlikely upper zeroblob"
	" avg count cume_dist dense_rank first_value group_concat lag last_value lead max median min "
	"nth_value"
	" ntile percent_rank percentile percentile_cont percentile_disc rank row_number string_agg sum total"
	" date datetime julianday strftime time timediff unixepoch"
	" acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 "
	"mod pi"
	" pow power radians sin sinh sqrt tan tanh trunc"
	" json json_array json_array_length json_extract json_group_array json_group_object json_object"
	" json_quote json_type json_valid ";

/* Names and texts in a trace have at most some thousand bytes. SQLite's own limit is a gigabyte. */
static const struct {
	int which, most;
} limits[] = {
	{SQLITE_LIMIT_LENGTH, 8 << 20}, /* bytes of a text, or of a row */
	{SQLITE_LIMIT_SQL_LENGTH, 100000},
	{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
	{SQLITE_LIMIT_ATTACHED, 0},
};

static int allow_function(const char *name)
{
	char word[64];
	int n = snprintf(word, sizeof(word), " %s ", name ? name : "");

	if (n >= (int)sizeof(word) || strchr(word + 1, ' ') != word + n - 1)
		return SQLITE_DENY;
	return strcasestr(functions, word) ? SQLITE_OK : SQLITE_DENY;
}

/* A query can read only the tables of the trace: no other file, no extension. */
static int allow(void *ctx, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)ctx, (void)a, (void)c, (void)d;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return allow_function(b);
	default:
		return SQLITE_DENY;
	}
}

void sql_rules_set(sqlite3 *db)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db, limits[i].which, limits[i].most);
	sqlite3_set_authorizer(db, allow, NULL);
}

int sql_rules_refusal(sqlite3 *db, struct error *err)
{
	static const char function[] = "not authorized to use function";
	const char *why = sqlite3_errmsg(db), *more = "";

	if (strncmp(why, function, sizeof(function) - 1) == 0)
		more = ": docs/sql.md lists the functions of queries";
	else if (sqlite3_errcode(db) == SQLITE_AUTH)
		more = ": queries can only read the trace";
	else if (sqlite3_errcode(db) == SQLITE_TOOBIG)
		more = ": a text has at most 8 MiB, a query 100,000 bytes";
	return error_set(err, EINVAL, "%s%s", why, more);
}
