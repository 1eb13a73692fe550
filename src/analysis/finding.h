/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Adds and fills in a finding. */
#ifndef GOTRACE_ANALYSIS_FINDING_H
#define GOTRACE_ANALYSIS_FINDING_H

#include "analysis/state.h"

struct finding *finding_add(struct analysis *a, const char *id, double impact);
void finding_weigh(struct finding *finding, double impact); /* sets impact and level */
/* Limits its level, now and when it turns out to explain heavier ones. */
void finding_at_most(struct finding *finding, enum level level);
void finding_evidence(struct finding *finding, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void finding_text(struct finding *finding, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void finding_next(struct finding *finding, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *finding_level(const struct finding *finding); /* "high" */
/* Whether it is about other programs, and not about this one's code. */
bool finding_is_of_others(const struct finding *finding);
void finding_not_applicable(struct analysis *a, const char *id, const char *why);

/* --- findings.c --- */

void findings_make(struct analysis *a);            /* applies the rules, and orders what they find */
bool findings_need_more(const struct analysis *a); /* too little was watched for the rules */

/* --- rank.c --- */

/* Of findings that are alike, keeps the weightiest: one sentence for each thread of a pool hides all
 * others. */
void findings_merge(struct analysis *a);
void findings_rank(struct analysis *a);

/* --- explain.c --- */

/* Says of each finding which other one explains it. A chain's last finding weighs as much as the heaviest. */
void findings_explain(struct analysis *a);

#endif
