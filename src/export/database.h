/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the tables, and rows into them. */
#ifndef GOTRACE_EXPORT_DATABASE_H
#define GOTRACE_EXPORT_DATABASE_H

#include <sqlite3.h>

#include "export/census.h"
#include "util/error.h"
#include "wire/wire.h"

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
 * Empty tables in db, or, if that is NULL, in a database of its own in memory.
 * A db of the caller's is not owned. NULL with err set.
 */
struct database *database_new(sqlite3 *db, const struct census *census, const char *title, struct error *err);
void database_free(struct database *database);
/* A row to be bound and added; columns are those of the table, from 1. */
sqlite3_stmt *database_row(struct database *database, enum database_table table);
int database_add(struct database *database, sqlite3_stmt *row);
/* Indices and views, after the last row. */
int database_finish(struct database *database);
/* The file's bytes. */
int database_write(struct database *database, const struct byte_sink *out);
const char *database_fault(const struct database *database);

#endif
