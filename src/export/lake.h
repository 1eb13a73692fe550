/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A trace as tables for engines that query many traces at once: one Parquet file per table, in directories
 * by date and service (docs/fleet.md).
 */
#ifndef GOTRACE_EXPORT_LAKE_H
#define GOTRACE_EXPORT_LAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/resource.h"

enum lake_table {
	LAKE_TRACE,
	LAKE_WAIT,
	LAKE_LATENCY,
	LAKE_REQUEST,
	LAKE_REQUEST_WAIT,
	LAKE_LABEL,
	LAKE_OFFCPU,
	LAKE_FINDING,
	LAKE_STACK,
	/* with options.raw only, from here on */
	LAKE_STATE,
	LAKE_GOROUTINE,
	LAKE_WAKEUP,
	LAKE_GC,
	LAKE_SAMPLE,
	LAKE_REGION,
	LAKE_LOG,
	LAKE_METRIC,
	LAKE_TABLES
};

enum { LAKE_FIRST_RAW = LAKE_STATE };

const char *lake_table_name(enum lake_table table);

struct lake_frame {
	const char *func, *file;
	uint32_t line;
};

/* A finding of the analysis. Texts may be NULL. */
struct lake_finding {
	const char *rule, *level, *text, *next, *explained_by;
	double impact;
	uint64_t n, total_ns, p99_ns, max_ns;
	uint64_t worst_ns; /* since the trace's start; 0 = unknown */
	const struct lake_frame *stack, *waker_stack;
	uint32_t nstack, nwaker_stack;
	uint32_t most_frames; /* a stack of so many frames may have had others before its last one */
};

/* Not owned. */
struct lake_options {
	/* Takes the bytes of a table's file, the first of which is its beginning. Returns 0 or a negative
	 * errno. */
	int (*write)(void *ctx, enum lake_table table, const void *bytes, size_t n);
	void *ctx;
	bool raw;
	const char *attributes[RESOURCE_ATTRIBUTES]; /* NULL = unknown */
	const char *trace_id;                        /* 32 hexadecimal digits */
	uint64_t file_bytes;
	uint64_t start_wall_ns; /* the wall clock at the trace's start */
	bool wall_recorded;     /* by the trace; or else it is from the file's modification time */
	const struct lake_finding *findings;
	size_t nfindings;
};

struct census;
/*
 * Fills in the service's name if it is unknown: the executable's, or the main thread's if the program is
 * traced as threads, or "unknown_service", as OpenTelemetry has it. name: storage for it.
 */
void lake_name_service(struct lake_options *options, const struct census *census, char name[128]);

enum { LAKE_PATH_BYTES = 512 };

/*
 * The path of a table's file below the lake, "wait/date=2026-11-25/service=shop/HOST-TRACEID12.parquet".
 * Returns 0 or -ENAMETOOLONG.
 */
int lake_path(const struct lake_options *options, enum lake_table table, char path[LAKE_PATH_BYTES]);

#endif
