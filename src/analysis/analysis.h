/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Analyses a trace in one pass over its generations. Memory is bounded by goroutines and stacks, not by
 * events. docs/analysis.md defines the figures.
 */
#ifndef GOTRACE_ANALYSIS_ANALYSIS_H
#define GOTRACE_ANALYSIS_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/ops/op.h"

/* Facts about a live process and its host, which a trace does not contain. */
struct analysis_host {
	bool known;
	double cpus;           /* in its affinity mask */
	double quota_cpus;     /* quota of its cgroup; 0 = no limit */
	uint64_t quota_period; /* ns */
	uint64_t throttled_ns; /* during the trace, all threads together */
	uint64_t throttled;    /* periods in which the quota was used up */
	uint64_t cpu_ns;       /* CPU time of the process; 0 = unknown */
	uint64_t waited_ns;  /* for which its threads waited for a CPU, by the kernel's count; 0 = unknown */
	double machine_busy; /* utilisation of all CPUs of the machine, 0 to 1 */
	double machine_stolen; /* the share of them that the hypervisor gave to others, 0 to 1 */
	uint32_t pid;          /* in the commands that findings suggest; 0 = unknown */
	uint64_t tracing_ns;   /* cost of tracing to the target; 0 = unknown */
};

#define ANALYSIS_NO_FILE "FILE"

struct analysis_options {
	const char *name; /* name of the trace in headings; not owned */
	/* Its name in the commands that findings suggest; not owned. ANALYSIS_NO_FILE: there is none, it is
	 * of a live process. */
	const char *file;
	bool short_calls; /* the format (up to Go 1.21) does not record the end of a short system call */
	bool no_samples;  /* the format (up to Go 1.18) has no CPU samples */
	bool goes_on; /* a piece of a trace: tasks and regions that are open at its end are counted, too */
	struct analysis_host host;
	/* pprof labels; not owned, NULL = any. by_label: only this key gets rows. label ("key=value"): the
	 * tables of waits, system calls, assists, tasks and regions cover only goroutines that have it. */
	const char *by_label, *label;
};

struct analysis;

struct analysis *analysis_new(const struct analysis_options *options); /* NULL when out of memory */
void analysis_free(struct analysis *a);
/* Analyses the next generation. Call for all of them, in order. Returns 0 or -ENOMEM. */
int analysis_generation(struct analysis *a, const struct generation *gen);
/* Closes open intervals and applies the rules. Call once, before printing. Returns 0 or -ENOMEM. */
int analysis_end(struct analysis *a);

enum { ANALYSIS_FINDINGS = 64 }; /* most that an analysis has */

/* A finding, for other programs. Texts are owned by the analysis; unknown ones are NULL. */
struct analysis_finding {
	const char *rule, *level, *text, *next;
	const char *explained_by; /* rule of the finding that explains it */
	double impact;            /* 0 to 1 */
	uint64_t n, total_ns, p99_ns, max_ns;
	uint64_t worst_ns;             /* since the trace's start */
	uint32_t nstack, nwaker_stack; /* frames */
};

struct analysis_frame {
	const char *func, *file;
	uint32_t line;
};

/* Of a stack with more frames, the first ones less one are known, and the last one. */
enum { ANALYSIS_FRAMES = 48 };

/* Gets a finding, in the order of the report. Returns false if there are not so many. */
bool analysis_finding(const struct analysis *a, unsigned i, struct analysis_finding *finding);
/* Where to look at a finding: its worst instance, and a window around it. In ns since the trace's start. */
struct analysis_place {
	uint64_t begin, end; /* of the instance */
	uint64_t from,
		to; /* 200 ms, less at an end of the trace; of a long one its last 2 s and 0.2 s more */
	uint64_t goroutine; /* id; 0 = unknown */
	uint64_t trace_ns;  /* start of the trace, in its own clock */
};

/*
 * Gets the place of finding i, as above. Returns false if it has none, as a finding about the whole trace
 * has; from and to are then those of the trace.
 */
bool analysis_finding_place(const struct analysis *a, unsigned i, struct analysis_place *place);
/* Returns the rank of a level, 0 for "info" to 3 for "high", or -1 if there is no such level. */
int analysis_level(const char *level);
/* A frame of its stack, or of the one that ended the wait, leaf first. */
struct analysis_frame analysis_finding_frame(const struct analysis *a, unsigned i, bool waker,
					     uint32_t frame);

/* Sort key of table rows. Some tables have only one order. */
enum report_sort { SORT_TOTAL, SORT_COUNT, SORT_P99, SORT_MAX, SORT_KINDS };

struct report_style {
	enum report_sort sort;
	bool color;
	bool all;           /* show every finding and row */
	unsigned width;     /* columns; 0 = 80 */
	size_t max_bytes;   /* JSON: limit of the output; 0 = 64 KiB */
	unsigned max_items; /* JSON: limit per list; 0 = as many as fit */
};

struct strips; /* strips.h */

void report_text(struct analysis *a, FILE *out, const struct report_style *style);
/* Prints one part of report_text(): 0 = findings, then the tables. Returns false if there is no such part. */
bool report_view(struct analysis *a, unsigned view, FILE *out, const struct report_style *style);
const char *report_view_name(unsigned view); /* NULL if there is none */
void report_json(struct analysis *a, FILE *out, const struct report_style *style);
/* strips: NULL = the findings have no time lines. */
void report_html(struct analysis *a, const struct strips *strips, FILE *out,
		 const struct report_style *style);

#endif
