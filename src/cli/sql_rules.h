/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a query of gotrace sql may do: read the trace, with a list of functions, on texts of limited length.
 */
#ifndef GOTRACE_CLI_SQL_RULES_H
#define GOTRACE_CLI_SQL_RULES_H

#include <sqlite3.h>

#include "util/error.h"

/* Call it after the trace has been loaded. */
void sql_rules_set(sqlite3 *db);
/* Returns a negative errno, and sets *err to why the database refused or ended a query. */
int sql_rules_refusal(sqlite3 *db, struct error *err);

#endif
