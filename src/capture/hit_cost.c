/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/hit_cost.h"

#define KEPT 0.75 /* share of the older hits that still counts, at each update */

enum {
	ENOUGH = 32,      /* hits needed for a mean that is better than a guess */
	GUESSED_NS = 400, /* for a program with a stack, until there are enough */
	GUESSED_CALL_NS = 250,
	/* Of a system call's tracepoint without its program's work, Linux 6.18: half of the slow path into
	 * and out of the kernel, and the dispatch. It is a fifth of what our programs take, and too little to
	 * be measured where CPUs are short. */
	DISPATCH_NS = 80,
};

/* Older hits count for less and less. Each hit has the same weight: the few of a quiet interval find cold
 * caches, and say little of the many. */
static void take_in(struct running_mean *mean, uint64_t n, uint64_t ns)
{
	if (n - mean->n < ENOUGH || ns < mean->ns)
		return;
	mean->kept_n = mean->kept_n * KEPT + (double)(n - mean->n);
	mean->kept_ns = mean->kept_ns * KEPT + (double)(ns - mean->ns);
	mean->value = (uint64_t)(mean->kept_ns / mean->kept_n);
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
	       hits->calls * (DISPATCH_NS + run_of_call(cost)) +
	       hits->functions * (cost->function_ns + run_of_probe(cost));
}
