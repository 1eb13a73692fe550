/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A log-linear histogram of durations with 64 buckets per octave, so that percentiles are within 1.6 %.
 * Count, sum and maximum are exact. An octave is allocated when its first value arrives.
 */
#ifndef GOTRACE_UTIL_HISTOGRAM_H
#define GOTRACE_UTIL_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_OCTAVES = 59 };

struct histogram {
	uint64_t n, sum, max; /* ns */
	uint32_t *octaves[HISTOGRAM_OCTAVES];
};

/* Adds a value. Returns 0, or -ENOMEM with the value only in n, sum and max. */
int histogram_add(struct histogram *hist, uint64_t ns);
/* Returns the quantile `part` (0 to 1) in ns; 0 if the histogram is empty. */
uint64_t histogram_quantile(const struct histogram *hist, double part);
/* Returns the sum of the values from `least` on, ns, as exact as a quantile. */
uint64_t histogram_sum_from(const struct histogram *hist, uint64_t least);
/* Adds the values of `from`. Returns 0 or -ENOMEM. */
int histogram_merge(struct histogram *hist, const struct histogram *from);
void histogram_free(struct histogram *hist);

#endif
