/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

struct database {
	sqlite3 *db;
	bool owned;
	sqlite3_stmt *rows[TABLE_COUNT];
	char fault[256];
};

/* Times are ns of the trace's clock, durations ns. docs/sql.md explains every column. */
static const char schema[] =
	"CREATE TABLE info(key TEXT PRIMARY KEY, value);"
	"CREATE TABLE goroutine(id INTEGER PRIMARY KEY, goid INTEGER, name TEXT, parent INTEGER, created "
	"INTEGER,"
	" ended INTEGER, entry INTEGER, thread INTEGER);"
	"CREATE TABLE state(ts INTEGER, dur INTEGER, g INTEGER, state TEXT, reason TEXT, stack INTEGER,"
	" thread INTEGER, p INTEGER, begins INTEGER, ends INTEGER, lock TEXT);"
	"CREATE TABLE wakeup(ts INTEGER, waker INTEGER, g INTEGER, stack INTEGER, thread INTEGER, p INTEGER);"
	"CREATE TABLE stack(id INTEGER PRIMARY KEY, leaf TEXT, root TEXT, depth INTEGER);"
	"CREATE TABLE frame(stack INTEGER, depth INTEGER, func TEXT, file TEXT, line INTEGER, pc INTEGER);"
	"CREATE TABLE task(id INTEGER, parent INTEGER, name TEXT, ts INTEGER, dur INTEGER, g INTEGER,"
	" stack INTEGER, ends INTEGER);"
	"CREATE TABLE region(name TEXT, ts INTEGER, dur INTEGER, g INTEGER, task INTEGER, stack INTEGER,"
	" ends INTEGER);"
	"CREATE TABLE log(ts INTEGER, g INTEGER, task INTEGER, category TEXT, message TEXT, stack INTEGER);"
	"CREATE TABLE label(ts INTEGER, dur INTEGER, g INTEGER, key TEXT, value TEXT, begins INTEGER, ends "
	"INTEGER);"
	"CREATE TABLE sample(ts INTEGER, g INTEGER, thread INTEGER, p INTEGER, stack INTEGER);"
	"CREATE TABLE gc(ts INTEGER, dur INTEGER, kind TEXT, name TEXT, g INTEGER, p INTEGER, stack INTEGER,"
	" swept INTEGER, reclaimed INTEGER, ends INTEGER);"
	"CREATE TABLE metric(ts INTEGER, name TEXT, value INTEGER);"
	"BEGIN;";

static const char finish[] =
	"COMMIT;"
	"CREATE VIEW syscall AS SELECT s.ts, s.dur, s.g, k.leaf AS name, s.stack, s.thread, s.p, s.begins, "
	"s.ends"
	" FROM state s LEFT JOIN stack k ON k.id = s.stack WHERE s.state = 'syscall';"
	"CREATE VIEW thread_state AS SELECT s.ts, s.dur, s.thread, s.p, s.g, s.state"
	" FROM state s WHERE s.state IN ('running', 'syscall') AND s.thread IS NOT NULL;";

/* In files. For a single query they cost more than they save, as SQLite itself indexes for a join, unless it
 * has another one inside, which SQLite may run for each row. */
static const char indices[] = "CREATE INDEX state_by_g ON state(g, ts);"
			      "CREATE INDEX label_by_g ON label(g, ts);"
			      "CREATE INDEX wakeup_by_g ON wakeup(g, ts);"
			      "CREATE INDEX frame_by_stack ON frame(stack, depth);";

static const char *const inserts[TABLE_COUNT] = {
	[TABLE_GOROUTINE] = "INSERT INTO goroutine VALUES(?,?,?,?,?,?,?,?)",
	[TABLE_STATE] = "INSERT INTO state VALUES(?,?,?,?,?,?,?,?,?,?,?)",
	[TABLE_WAKEUP] = "INSERT INTO wakeup VALUES(?,?,?,?,?,?)",
	[TABLE_STACK] = "INSERT INTO stack VALUES(?,?,?,?)",
	[TABLE_FRAME] = "INSERT INTO frame VALUES(?,?,?,?,?,?)",
	[TABLE_TASK] = "INSERT INTO task VALUES(?,?,?,?,?,?,?,?)",
	[TABLE_REGION] = "INSERT INTO region VALUES(?,?,?,?,?,?,?)",
	[TABLE_LOG] = "INSERT INTO log VALUES(?,?,?,?,?,?)",
	[TABLE_LABEL] = "INSERT INTO label VALUES(?,?,?,?,?,?,?)",
	[TABLE_SAMPLE] = "INSERT INTO sample VALUES(?,?,?,?,?)",
	[TABLE_GC] = "INSERT INTO gc VALUES(?,?,?,?,?,?,?,?,?,?)",
	[TABLE_METRIC] = "INSERT INTO metric VALUES(?,?,?)",
};

static int fail(struct database *database)
{
	snprintf(database->fault, sizeof(database->fault), "SQLite: %s", sqlite3_errmsg(database->db));
	return -EIO;
}

static int add_info(struct database *database, const char *key, const char *text, uint64_t number)
{
	sqlite3_stmt *row;
	int rc;

	if (sqlite3_prepare_v2(database->db, "INSERT INTO info VALUES(?,?)", -1, &row, NULL))
		return -EIO;
	sqlite3_bind_text(row, 1, key, -1, SQLITE_STATIC);
	if (text)
		sqlite3_bind_text(row, 2, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_int64(row, 2, (sqlite3_int64)number);
	rc = sqlite3_step(row) == SQLITE_DONE ? 0 : -EIO;
	sqlite3_finalize(row);
	return rc;
}

static int add_infos(struct database *database, const struct census *census, const char *title)
{
	uint64_t wall = census->wall_ns ? census->wall_ns + census->start - census->clock_ns : 0;

	return add_info(database, "version", GOTRACE_VERSION, 0) || add_info(database, "source", title, 0) ||
			       add_info(database, "start", NULL, census->start) ||
			       add_info(database, "end", NULL, census->end) ||
			       (wall && add_info(database, "start_wall", NULL, wall)) ||
			       add_info(database, "threads", NULL, census->threads)
		       ? -EIO
		       : 0;
}

static int open_database(struct database *database, sqlite3 *db)
{
	database->db = db;
	database->owned = !db;
	/* memdb is the only VFS that can be serialized without a copy. Its default size limit is 1 GiB. */
	if (!db && sqlite3_open_v2("file:gotrace?vfs=memdb", &database->db,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI |
					   SQLITE_OPEN_NOMUTEX,
				   NULL))
		return -EIO;
	if (!db) {
		sqlite3_int64 limit = INT64_MAX / 2;

		sqlite3_file_control(database->db, "main", SQLITE_FCNTL_SIZE_LIMIT, &limit);
	}
	return 0;
}

struct database *database_new(sqlite3 *db, const struct census *census, const char *title, struct error *err)
{
	struct database *database = calloc(1, sizeof(*database));
	int rc;

	if (!database)
		return NULL;
	rc = open_database(database, db);
	/* Without the last one, large sorts create files in /var/tmp or SQLITE_TMPDIR. */
	if (!rc)
		rc = sqlite3_exec(
			database->db,
			"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;",
			NULL, NULL, NULL);
	if (!rc)
		rc = sqlite3_exec(database->db, schema, NULL, NULL, NULL);
	for (int i = 0; i < TABLE_COUNT && !rc; i++)
		rc = sqlite3_prepare_v3(database->db, inserts[i], -1, SQLITE_PREPARE_PERSISTENT,
					&database->rows[i], NULL);
	if (!rc && !add_infos(database, census, title ? title : ""))
		return database;
	error_set(err, EIO, "SQLite: %s", database->db ? sqlite3_errmsg(database->db) : "out of memory");
	database_free(database);
	return NULL;
}

void database_free(struct database *database)
{
	if (!database)
		return;
	for (int i = 0; i < TABLE_COUNT; i++)
		sqlite3_finalize(database->rows[i]);
	if (database->owned)
		sqlite3_close(database->db);
	free(database);
}

sqlite3_stmt *database_row(struct database *database, enum database_table table)
{
	return database->rows[table];
}

int database_add(struct database *database, sqlite3_stmt *row)
{
	int rc = sqlite3_step(row);

	if (rc != SQLITE_DONE)
		return fail(database);
	sqlite3_reset(row);
	return 0;
}

int database_finish(struct database *database)
{
	if (sqlite3_exec(database->db, finish, NULL, NULL, NULL))
		return fail(database);
	return database->owned && export_sqlite_index(database->db) ? fail(database) : 0;
}

int export_sqlite_index(sqlite3 *db)
{
	return sqlite3_exec(db, indices, NULL, NULL, NULL) ? -EIO : 0;
}

int database_write(struct database *database, const struct byte_sink *out)
{
	sqlite3_int64 size = 0;
	unsigned char *bytes = sqlite3_serialize(database->db, "main", &size, SQLITE_SERIALIZE_NOCOPY);

	return bytes ? out->write(out->ctx, bytes, (size_t)size) : -ENOMEM;
}

const char *database_fault(const struct database *database)
{
	return database->fault;
}
