/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Compares two traces of one program, before and after a change. */
#ifndef GOTRACE_ANALYSIS_DIFF_H
#define GOTRACE_ANALYSIS_DIFF_H

#include "analysis/analysis.h"

struct diff;

/*
 * Compares two analyses, after analysis_end(). They are not owned and must outlive the diff. Returns NULL
 * when out of memory.
 */
struct diff *diff_new(struct analysis *before, struct analysis *after);
void diff_free(struct diff *diff);
void diff_text(const struct diff *diff, FILE *out, const struct report_style *style);
void diff_json(const struct diff *diff, FILE *out);

#endif
