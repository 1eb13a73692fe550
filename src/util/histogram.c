/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { BUCKET_BITS = 6, BUCKETS = 1 << BUCKET_BITS };

/* Values below 64 have octave 0 and a bucket each. Above, the six bits after the highest select a bucket. */
static unsigned octave_of(uint64_t ns)
{
	return ns < BUCKETS ? 0 : 64 - BUCKET_BITS - (unsigned)__builtin_clzll(ns);
}

static unsigned histogram_bucket_of(uint64_t ns, unsigned octave)
{
	return octave ? (unsigned)(ns >> (octave - 1)) & (BUCKETS - 1) : (unsigned)ns;
}

/* Returns the middle of a bucket. */
static uint64_t value_of(unsigned octave, unsigned bucket)
{
	uint64_t low = (uint64_t)(BUCKETS + bucket);

	if (!octave)
		return bucket;
	return (low << (octave - 1)) + ((1ull << (octave - 1)) >> 1);
}

static uint32_t *octave_at(struct histogram *hist, unsigned octave)
{
	if (!hist->octaves[octave])
		hist->octaves[octave] = calloc(BUCKETS, sizeof(uint32_t));
	return hist->octaves[octave];
}

int histogram_add(struct histogram *hist, uint64_t ns)
{
	unsigned octave = octave_of(ns);
	uint32_t *buckets = octave_at(hist, octave);

	hist->n++;
	hist->sum += ns;
	if (ns > hist->max)
		hist->max = ns;
	if (!buckets)
		return -ENOMEM;
	buckets[histogram_bucket_of(ns, octave)]++;
	return 0;
}

uint64_t histogram_quantile(const struct histogram *hist, double part)
{
	uint64_t want = (uint64_t)ceil(part * (double)hist->n), seen = 0;

	if (want < 1)
		want = 1;
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		for (unsigned i = 0; hist->octaves[octave] && i < BUCKETS; i++) {
			uint64_t value = value_of(octave, i);

			seen += hist->octaves[octave][i];
			if (seen >= want)
				return value < hist->max ? value : hist->max;
		}
	}
	return hist->max;
}

uint64_t histogram_sum_from(const struct histogram *hist, uint64_t least)
{
	uint64_t sum = 0;

	for (unsigned octave = octave_of(least); octave < HISTOGRAM_OCTAVES; octave++) {
		for (unsigned i = 0; hist->octaves[octave] && i < BUCKETS; i++) {
			uint64_t value = value_of(octave, i);

			sum += value >= least ? value * hist->octaves[octave][i] : 0;
		}
	}
	return sum;
}

int histogram_merge(struct histogram *hist, const struct histogram *from)
{
	int ret = 0;

	hist->n += from->n;
	hist->sum += from->sum;
	if (from->max > hist->max)
		hist->max = from->max;
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		uint32_t *buckets = from->octaves[octave] ? octave_at(hist, octave) : NULL;

		if (from->octaves[octave] && !buckets)
			ret = -ENOMEM;
		for (unsigned i = 0; buckets && i < BUCKETS; i++)
			buckets[i] += from->octaves[octave][i];
	}
	return ret;
}

void histogram_free(struct histogram *hist)
{
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++)
		free(hist->octaves[octave]);
	*hist = (struct histogram){0};
}
