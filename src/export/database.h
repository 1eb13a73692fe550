/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the tables of the database, and their rows. */
#ifndef GOTRACE_EXPORT_DATABASE_H
#define GOTRACE_EXPORT_DATABASE_H

#include <sqlite3.h>

#include "export/census.h"
#include "util/error.h"
#include "trace/wire/wire.h"

enum database_table {
	TABLE_GOROUTINE,
	TABLE_STATE,
	TABLE_WAKEUP,
	TABLE_STACK,
	TABLE_FRAME,
	TABLE_TASK,
	TABLE_REGION,
	TABLE_LOG,
	TABLE_LABEL,
	TABLE_SAMPLE,
	TABLE_GC,
	TABLE_METRIC,
	TABLE_COUNT
};

struct database;

/*
 * Creates empty tables in db, which is not owned, or in a new in-memory database if db is NULL. Returns NULL
 * on failure, and sets *err unless out of memory.
 */
struct database *database_new(sqlite3 *db, const struct census *census, const char *title, struct error *err);
void database_free(struct database *database);
/* Returns a row to bind and add. Its parameters are the table's columns, from 1. */
sqlite3_stmt *database_row(struct database *database, enum database_table table);
/* Returns 0 or -EIO. */
int database_add(struct database *database, sqlite3_stmt *row);
/* Adds indices and views, after the last row. Returns 0 or -EIO. */
int database_finish(struct database *database);
/* Writes the database as a file. */
int database_write(struct database *database, const struct byte_sink *out);
const char *database_fault(const struct database *database);

#endif
