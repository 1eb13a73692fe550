/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: whether two samples differ, and by how much. */
#ifndef GOTRACE_ANALYSIS_STATISTICS_H
#define GOTRACE_ANALYSIS_STATISTICS_H

#include <stddef.h>

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
