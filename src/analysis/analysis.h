/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From ops to answers: one pass over the generations of a trace, in memory
 * that is bounded by goroutines and stacks, not by events. What the figures
 * mean is defined in docs/analysis.md.
 */
#ifndef GOTRACE_ANALYSIS_H
#define GOTRACE_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sched/op.h"

/* What a trace does not say, and a live process does. */
struct analysis_host {
	bool known;
	double cpus;           /* that its affinity allows */
	double quota_cpus;     /* of its cgroup, 0 = no limit */
	uint64_t quota_period; /* ns */
	uint64_t throttled_ns; /* while it was traced, all threads together */
	uint64_t throttled;    /* periods in which the quota was used up */
	uint64_t cpu_ns;       /* CPU time of the process; 0 = not known */
	double machine_busy;   /* of all CPUs of the machine, 0 to 1 */
	uint64_t tracing_ns;   /* cost of tracing to the target; 0 = not known */
	uint64_t lost;         /* records */
};

struct analysis_options {
	const char *name; /* of the trace, in headings; not owned */
	const char *file; /* the same in the commands that findings name; not owned */
	bool short_calls; /* the format does not say when a short system call ends: up to Go 1.21 */
	struct analysis_host host;
	/* pprof labels; not owned, NULL = any. by_label: of this key alone rows are made. label: "key=value":
	 * the tables of waits, system calls, assists, tasks and regions are of goroutines that have it. */
	const char *by_label, *label;
};

struct analysis;

struct analysis *analysis_new(const struct analysis_options *options); /* NULL when out of memory */
void analysis_free(struct analysis *a);
/* Takes one generation; they come in order. 0 or -ENOMEM. */
int analysis_generation(struct analysis *a, const struct generation *gen);
/* Closes what is open, and applies the rules. To be called once, before anything is printed. 0 or -ENOMEM. */
int analysis_end(struct analysis *a);
/* What was learned of the host later than analysis_new; before analysis_end. */
void analysis_set_host(struct analysis *a, const struct analysis_host *host);

/* What the rows of tables are ordered by. Some tables have one order only. */
enum report_sort { SORT_TOTAL, SORT_COUNT, SORT_P99, SORT_MAX, SORT_KINDS };

struct report_style {
	enum report_sort sort;
	bool color;
	bool all;           /* every finding and row */
	unsigned width;     /* columns; 0 = 80 */
	size_t max_bytes;   /* of JSON; 0 = 64 KiB */
	unsigned max_items; /* of a list in JSON; 0 = as many as fit */
};

void report_text(struct analysis *a, FILE *out, const struct report_style *style);
/* One of the parts of report_text: 0 = findings, then the tables. False if there is none of that number. */
bool report_view(struct analysis *a, unsigned view, FILE *out, const struct report_style *style);
const char *report_view_name(unsigned view); /* NULL if there is none */
void report_json(struct analysis *a, FILE *out, const struct report_style *style);
void report_html(struct analysis *a, FILE *out, const struct report_style *style);

#endif
