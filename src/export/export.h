/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Exports generations of ops to the formats of other tools: Perfetto, pprof, folded stacks, a flame graph,
 * SQLite, Parquet. */
#ifndef GOTRACE_EXPORT_EXPORT_H
#define GOTRACE_EXPORT_EXPORT_H

#include <stdint.h>
#include <sys/types.h>

#include "export/census.h"
#include "export/lake.h"
#include "util/error.h"
#include "trace/wire/wire.h"

enum export_format {
	EXPORT_NONE,
	EXPORT_PERFETTO,
	EXPORT_PPROF,
	EXPORT_FOLDED,
	EXPORT_FLAME,
	EXPORT_SQLITE,
	EXPORT_PARQUET,
};

enum profile_kind {
	PROFILE_WALL,    /* all of a goroutine's time, whatever it does */
	PROFILE_BLOCK,   /* waits for channels, select, and sync */
	PROFILE_MUTEX,   /* waits for locks */
	PROFILE_SCHED,   /* runnable, not running */
	PROFILE_SYSCALL, /* in system calls */
	PROFILE_NET,     /* waits for the network */
	PROFILE_CPU,     /* CPU samples */
	PROFILE_KINDS,
};

/* The machine on which a trace was recorded. */
struct export_machine {
	const char *host, *system, *release, *version, *machine; /* uname(2) */
	const char *kernel_build_id;                             /* hexadecimal; "" = unknown */
	uint32_t cpus;
	uint64_t suspended_ns; /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC */
};

struct export_options {
	enum export_format format;
	enum profile_kind profile;            /* pprof and folded */
	const char *title;                    /* of the trace, for people */
	const char *process;                  /* name of the traced process; NULL = unknown */
	pid_t pid;                            /* of the traced process; 0 = unknown */
	unsigned source;                      /* enum wire_format of the file; 0 = unknown */
	uint64_t uuid[2];                     /* perfetto: the same for the same trace; {0, 0} = none */
	const struct export_machine *machine; /* perfetto; NULL = unknown */
	uint32_t part; /* perfetto: number of this trace among those in one file, from 0 */
	/* sqlite: receives the rows; NULL = a new database, which is then written to out */
	struct sqlite3 *database;
	const struct lake_options *lake; /* parquet: takes the bytes in place of out; not owned */
	struct byte_sink out;
};

/*
 * Parses "perfetto", "pprof:NAME", "folded", "folded:NAME", "flame", "sqlite" or "parquet". Returns false if
 * the text is none of these, and sets *err if only NAME is unknown.
 */
bool export_parse(const char *text, enum export_format *format, enum profile_kind *profile,
		  struct error *err);
const char *profile_name(enum profile_kind kind);

struct exporter;

/* Adds the indices that a file has to a database that was given. Returns 0 or -EIO. */
int export_sqlite_index(struct sqlite3 *db);

/* census: of the same trace; not owned. Returns NULL and sets *err on failure. */
struct exporter *exporter_new(const struct export_options *options, const struct census *census,
			      struct error *err);
/* Returns 0, or a negative errno and sets *err unless the error is the sink's. */
int exporter_generation(struct exporter *exporter, const struct generation *gen, struct error *err);
/* Writes the rest. Returns as exporter_generation() does. */
int exporter_finish(struct exporter *exporter, struct error *err);
void exporter_free(struct exporter *exporter);

#endif
