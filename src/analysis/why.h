/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the time of one task, region or goroutine went: its critical path through the goroutines that it
 * waited for (Giraldeau and Dagenais, doi 10.1109/TPDS.2015.2488629). The trace is read twice: to find the
 * instance, and to collect what happened during it.
 */
#ifndef GOTRACE_ANALYSIS_WHY_H
#define GOTRACE_ANALYSIS_WHY_H

#include "analysis/analysis.h"
#include "util/error.h"

enum why_kind { WHY_TASK, WHY_REGION, WHY_LABEL, WHY_GOROUTINE };

struct why_question {
	enum why_kind kind;
	const char *name;   /* of the task or region, or "key=value" of the label; not owned */
	const char *also;   /* another name of the task or region; NULL = none; not owned */
	uint64_t goroutine; /* its id */
	/* selects the instance under way at this time since the trace's start; UINT64_MAX = unset */
	uint64_t at_ns;
	unsigned slowest; /* if at_ns is unset: the Nth slowest, from 1 */
};

struct why;

struct why *why_new(const struct why_question *question); /* NULL when out of memory */
void why_free(struct why *why);
/* Makes `why` the observer of a. Call at the start of each of the two passes. */
void why_watch(struct why *why, struct analysis *a);
/* Chooses the instance, after the first pass. Returns 0, or -ENOENT and sets *err to what the trace has. */
int why_choose(struct why *why, struct analysis *a, struct error *err);
/* Finds the path, after the second pass. Returns 0, or sets *err: -ENOMEM, or -EOVERFLOW if too long. */
int why_explain(struct why *why, struct analysis *a, struct error *err);
void why_text(const struct why *why, const struct analysis *a, FILE *out, const struct report_style *style);
void why_json(const struct why *why, const struct analysis *a, FILE *out);

#endif
