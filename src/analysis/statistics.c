/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/diff.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 1000, MOST = 1024, LEAST = 4 };

static int by_value(const void *one, const void *other)
{
	float a = *(const float *)one, b = *(const float *)other;

	return a < b ? -1 : a > b;
}

double median(float *values, size_t n)
{
	if (!n)
		return 0;
	qsort(values, n, sizeof(*values), by_value);
	return n % 2 ? (double)values[n / 2] : ((double)values[n / 2 - 1] + (double)values[n / 2]) / 2;
}

struct ranked {
	float value;
	unsigned char side;
};

static int by_ranked(const void *one, const void *other)
{
	return by_value(&((const struct ranked *)one)->value, &((const struct ranked *)other)->value);
}

/* Returns the sum of the ranks of side 0; equal values share the mean rank. *ties = sum of t^3 - t over
 * groups of t equal values. */
static double rank_sum(struct ranked *all, size_t n, double *ties)
{
	double sum = 0;

	*ties = 0;
	qsort(all, n, sizeof(*all), by_ranked);
	for (size_t i = 0, j; i < n; i = j) {
		double t;

		for (j = i; j < n && all[j].value <= all[i].value; j++)
			;
		t = (double)(j - i);
		*ties += t * t * t - t;
		for (size_t k = i; k < j; k++)
			sum += all[k].side == 0 ? ((double)i + 1 + (double)j) / 2 : 0;
	}
	return sum;
}

double mann_whitney(const float *a, size_t na, const float *b, size_t nb)
{
	struct ranked *all;
	double n = (double)(na + nb), ties, u, variance, z;

	if (na < LEAST || nb < LEAST)
		return 1;
	all = calloc(na + nb, sizeof(*all));
	if (!all)
		return 1;
	for (size_t i = 0; i < na + nb; i++)
		all[i] = (struct ranked){i < na ? a[i] : b[i - na], i >= na};
	u = rank_sum(all, na + nb, &ties) - (double)na * ((double)na + 1) / 2;
	free(all);
	variance = (double)na * (double)nb / 12 * (n + 1 - ties / (n * (n - 1)));
	if (variance <= 0)
		return 1;
	z = (fabs(u - (double)na * (double)nb / 2) - 0.5) / sqrt(variance);
	return z <= 0 ? 1 : erfc(z / sqrt(2));
}

/* xorshift64* (Vigna 2016), with a fixed seed. */
static size_t statistics_draw(uint64_t *state, size_t n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (size_t)(*state * 0x2545f4914f6cdd1dull >> 33) % n;
}

static double resampled_median(const float *values, size_t n, uint64_t *state)
{
	float drawn[MOST];

	n = n < MOST ? n : MOST;
	for (size_t i = 0; i < n; i++)
		drawn[i] = values[statistics_draw(state, n)];
	return median(drawn, n);
}

void ratio_interval(const float *a, size_t na, const float *b, size_t nb, double *low, double *high)
{
	float ratios[ROUNDS];
	uint64_t state = 88172645463325252ull;

	*low = *high = 0;
	if (!na || !nb)
		return;
	for (unsigned i = 0; i < ROUNDS; i++) {
		double before = resampled_median(a, na, &state), after = resampled_median(b, nb, &state);

		ratios[i] = (float)(before > 0 ? after / before : 0);
	}
	qsort(ratios, ROUNDS, sizeof(*ratios), by_value);
	*low = (double)ratios[ROUNDS / 40];
	*high = (double)ratios[ROUNDS - ROUNDS / 40 - 1];
}

void false_discovery(const double *p, size_t n, double rate, unsigned char *keep)
{
	size_t tests = 0, below;
	double limit = 0;

	memset(keep, 0, n);
	for (size_t i = 0; i < n; i++)
		tests += p[i] >= 0;
	/* Find the largest p that is at most rate * k / tests, where k values are no larger than p. */
	for (size_t i = 0; i < n; i++) {
		below = 0;
		for (size_t j = 0; j < n; j++)
			below += p[j] >= 0 && p[j] <= p[i];
		if (p[i] >= 0 && p[i] <= rate * (double)below / (double)tests && p[i] > limit)
			limit = p[i];
	}
	for (size_t i = 0; i < n; i++)
		keep[i] = p[i] >= 0 && p[i] <= limit;
}
