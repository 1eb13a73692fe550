/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What changed between two traces of one program: before and after. */
#ifndef GOTRACE_ANALYSIS_DIFF_H
#define GOTRACE_ANALYSIS_DIFF_H

#include "analysis/analysis.h"

struct diff;

/* Compares two analyses that have ended; neither is owned, and both outlive it. NULL when out of memory. */
struct diff *diff_new(struct analysis *before, struct analysis *after);
void diff_free(struct diff *diff);
void diff_text(const struct diff *diff, FILE *out, const struct report_style *style);
void diff_json(const struct diff *diff, FILE *out);

#endif
