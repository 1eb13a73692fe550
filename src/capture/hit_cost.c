/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/hit_cost.h"

enum {
	ENOUGH = 32,      /* hits needed for a mean that is better than a guess */
	GUESSED_NS = 400, /* for a program with a stack, until there are enough */
	GUESSED_CALL_NS = 250,
};

/* Weighted mean: the latest hits count for a quarter each time. */
static void take_in(struct running_mean *mean, uint64_t n, uint64_t ns)
{
	uint64_t latest;

	if (n - mean->n < ENOUGH || ns < mean->ns)
		return;
	latest = (ns - mean->ns) / (n - mean->n);
	mean->value = mean->value ? (3 * mean->value + latest) / 4 : latest;
	mean->n = n;
	mean->ns = ns;
}

void hit_cost_update(struct hit_cost *cost, const uint64_t counts[COUNTERS])
{
	take_in(&cost->probes, counts[TIMED_PROBES], counts[TIMED_PROBES_NS]);
	take_in(&cost->calls, counts[TIMED_CALLS], counts[TIMED_CALLS_NS]);
}

static uint64_t run_of_probe(const struct hit_cost *cost)
{
	return cost->probes.value ? cost->probes.value : GUESSED_NS;
}

static uint64_t run_of_call(const struct hit_cost *cost)
{
	return cost->calls.value ? cost->calls.value : GUESSED_CALL_NS;
}

uint64_t hit_cost_of(const struct hit_cost *cost, const struct hit_counts *hits)
{
	return hits->probes * (cost->trap_ns + run_of_probe(cost)) +
	       hits->calls * (cost->dispatch_ns + run_of_call(cost)) +
	       hits->functions * (cost->function_ns + run_of_probe(cost));
}
