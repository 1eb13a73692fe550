/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the time of one task, region or goroutine went: its critical path
 * through the goroutines that it waited for (Giraldeau and Dagenais, doi
 * 10.1109/TPDS.2015.2488629). The trace is read twice: to find the instance,
 * and for what happened in its time.
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
	uint64_t at_ns; /* from the trace's begin: the instance that was under way then; UINT64_MAX = none */
	unsigned slowest; /* the Nth slowest, from 1, if there is no time */
};

struct why;

struct why *why_new(const struct why_question *question); /* NULL when out of memory */
void why_free(struct why *why);
/* Before the first generation of the first pass, and of the second one: what is to be seen goes to `why`. */
void why_watch(struct why *why, struct analysis *a);
/* After the first pass has ended. 0, or -ENOENT with a line that says what there is. */
int why_choose(struct why *why, struct analysis *a, struct error *err);
/* After the second pass has ended: finds the path. 0, -ENOMEM, or -EOVERFLOW if too much happened meanwhile.
 */
int why_explain(struct why *why, struct analysis *a, struct error *err);
void why_text(const struct why *why, const struct analysis *a, FILE *out, const struct report_style *style);
void why_json(const struct why *why, const struct analysis *a, FILE *out);

#endif
