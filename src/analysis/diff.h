/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Compares two traces of one program, before and after a change. */
#ifndef GOTRACE_ANALYSIS_DIFF_H
#define GOTRACE_ANALYSIS_DIFF_H

#include <stddef.h>

#include "analysis/analysis.h"
#include "util/json.h"

struct diff;

/*
 * Compares two analyses, after analysis_end(). They are not owned and must outlive the diff. Returns NULL
 * when out of memory.
 */
struct diff *diff_new(struct analysis *before, struct analysis *after);
void diff_free(struct diff *diff);
void diff_text(const struct diff *diff, FILE *out, const struct report_style *style);
void diff_json(const struct diff *diff, FILE *out);

/* --- diff_findings.c: what two traces show as a whole: findings that are gone, new or in both, and counts
 * --- */

void diff_findings_text(const struct analysis *before, const struct analysis *after, FILE *out,
			const struct report_style *style);
/* Puts the members "findings" and "counts". */
void diff_findings_json(const struct analysis *before, const struct analysis *after, struct json *json);

/* --- statistics.c: whether two samples differ, and by how much --- */

/* The median; sorts the values. 0 if there are none. */
double median(float *values, size_t n);
/*
 * The two-sided p of the Mann-Whitney U test, by the normal approximation with
 * the correction for ties (Hollander, Wolfe and Chicken, Nonparametric
 * Statistical Methods, 4.1). 1 with fewer than 4 values on a side.
 */
double mann_whitney(const float *a, size_t na, const float *b, size_t nb);
/* The 95 % interval of median(b) / median(a), from 1,000 bootstrap samples with a fixed seed. */
void ratio_interval(const float *a, size_t na, const float *b, size_t nb, double *low, double *high);
/*
 * Benjamini-Hochberg procedure: sets keep[i] for those of n tests that are significant at this false
 * discovery rate. A p below 0 is not a test.
 */
void false_discovery(const double *p, size_t n, double rate, unsigned char *keep);

#endif
