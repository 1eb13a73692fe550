/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* From generations of ops to the formats of other tools: Perfetto, pprof, folded stacks, a flame graph,
 * SQLite. */
#ifndef GOTRACE_EXPORT_H
#define GOTRACE_EXPORT_H

#include <stdint.h>
#include <sys/types.h>

#include "export/census.h"
#include "util/error.h"
#include "wire/wire.h"

enum export_format {
	EXPORT_NONE,
	EXPORT_PERFETTO,
	EXPORT_PPROF,
	EXPORT_FOLDED,
	EXPORT_FLAME,
	EXPORT_SQLITE,
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

/* Where a trace was recorded. */
struct export_machine {
	const char *host, *system, *release, *version, *machine; /* uname(2) */
	const char *kernel_build_id;                             /* hexadecimal; "" = not known */
	uint32_t cpus;
	uint64_t suspended_ns; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
};

struct export_options {
	enum export_format format;
	enum profile_kind profile;            /* of pprof and folded */
	const char *title;                    /* of the trace, for people */
	const char *process;                  /* what the traced process is called; NULL = not known */
	pid_t pid;                            /* of it; 0 = not known */
	unsigned source;                      /* enum wire_format of the file; 0 = not known */
	uint64_t uuid[2];                     /* of perfetto: the same for the same trace; {0, 0} = none */
	const struct export_machine *machine; /* of perfetto; NULL = not known */
	uint32_t part; /* of perfetto: which one this is of the traces that go into one file, from 0 */
	struct sqlite3 *database; /* of sqlite: rows go there; NULL = into one of its own, which is then
				     written out */
	struct byte_sink out;
};

/*
 * "perfetto", "pprof:NAME", "folded", "folded:NAME", "flame", "sqlite". False
 * if it is none of these; then err says so if the text means to be one.
 */
bool export_parse(const char *text, enum export_format *format, enum profile_kind *profile,
		  struct error *err);
const char *profile_name(enum profile_kind kind);

struct exporter;

/* The census is that of the same trace and not owned. NULL with err set. */
struct exporter *exporter_new(const struct export_options *options, const struct census *census,
			      struct error *err);
/* 0, or a negative errno, with err set unless it is the sink's. */
int exporter_generation(struct exporter *exporter, const struct generation *gen, struct error *err);
/* Writes what is left. As above. */
int exporter_finish(struct exporter *exporter, struct error *err);
void exporter_free(struct exporter *exporter);

#endif
