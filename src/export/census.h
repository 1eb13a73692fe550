/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The first pass over a trace. It collects what an export must know before it writes its first byte: the
 * goroutines, their names, how busy they are, and the length of the trace.
 */
#ifndef GOTRACE_EXPORT_CENSUS_H
#define GOTRACE_EXPORT_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/ops/op.h"
#include "trace/ops/own_logs.h"
#include "util/strtab.h"

struct census_goroutine {
	uint64_t goid;
	uint32_t name;    /* id in census.strings: the function that it began with; 0 = unknown */
	uint32_t changes; /* of its state, after its first one */
	uint32_t m;       /* the thread that it was last seen on; 0 = none */
	uint32_t labels;  /* id in census.strings: the labels it has from its beginning; 0 = none */
};

struct census {
	struct strtab *strings;
	struct census_goroutine *goroutines; /* by serial (timeline.h); [0] is none */
	size_t n, capacity;                  /* n: serials are < this */
	uint64_t start, end;                 /* ns */
	/* the same moment on the trace's clock and on the wall clock; wall_ns 0 = unknown */
	uint64_t clock_ns, wall_ns;
	uint64_t nops;
	uint64_t not_watched_ns;
	uint64_t samples;     /* of the CPU */
	struct host_log host; /* cpus is 0: the trace has none */
	bool off_cpu;         /* it records when running goroutines had no CPU (OFF_CPU_REGION) */
	bool cpus;            /* it records where threads run (CPU_LOG_CATEGORY) */
	bool threads;         /* the program is traced as threads: goroutines are threads, Ps are CPUs */
};

struct op_timeline;

/* The census's names outlive the trace's tables. Returns 0 or -ENOMEM. */
int census_init(struct census *census);
void census_free(struct census *census);

struct census_pass;
/* Returns NULL when out of memory. */
struct census_pass *census_begin(struct census *census);
int census_generation(struct census_pass *pass, const struct generation *gen);
/* Call after the last generation. Returns 0 or -ENOMEM. */
int census_end(struct census_pass *pass);
void census_pass_free(struct census_pass *pass);

/* For how much CPU time a sample stands, ns: the process's, if the trace has it, else a hundredth of a
 * second. */
uint64_t census_sample_ns(const struct census *census);
/* Returns the name of a goroutine's function, or "" if it is unknown. */
const char *census_name(const struct census *census, uint32_t serial, size_t *len);

#endif
