/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A log-linear histogram of durations: 64 buckets an octave, so that a
 * percentile is within 1.6 % of the value. Count, sum and maximum are exact.
 * An octave takes memory when its first value arrives.
 */
#ifndef GOTRACE_ANALYSIS_HISTOGRAM_H
#define GOTRACE_ANALYSIS_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_OCTAVES = 59 };

struct histogram {
	uint64_t n, sum, max; /* ns */
	uint32_t *octaves[HISTOGRAM_OCTAVES];
};

/* 0, or -ENOMEM: then the value is in n, sum and max only. */
int histogram_add(struct histogram *hist, uint64_t ns);
/* The value that a share of part (0 to 1) of all values does not exceed, ns; 0 if there are none. */
uint64_t histogram_quantile(const struct histogram *hist, double part);
/* Adds what `from` holds. 0 or -ENOMEM. */
int histogram_merge(struct histogram *hist, const struct histogram *from);
void histogram_free(struct histogram *hist);

#endif
