/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads wait for a few others, which are busy nearly all the time: a pool that is too small. Where all
 * threads begin with one function, as Python's do, the workers are known only by what they do: they end the
 * waits. It may be all that the machine can do for them, so it is no more than information.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

enum { MIN_N = 20, MIN_WORKERS = 2 };

#define BUSY 0.85

static const struct goroutine *thread_of(const struct analysis *a, uint64_t goid)
{
	for (size_t i = 1; i < a->ngs; i++) {
		if (a->gs[i].goid == goid)
			return &a->gs[i];
	}
	return NULL;
}

/* The share of its time in which a thread does not wait for others. */
static double thread_busy_share(const struct goroutine *g)
{
	uint64_t all = activities_watched_ns(g->spent), waits = 0;

	for (unsigned i = 1; i < ACT_COUNT; i++)
		waits += activity_is_for_others(i) ? g->spent[i] : 0;
	return all ? (double)(all - waits) / (double)all : 0;
}

/* Returns how many threads end nearly all waits of the row, or 0: if there may be more, or if one of them is
 * not busy. */
static unsigned busy_workers(const struct analysis *a, const struct row *row)
{
	uint64_t known = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < TOPS; i++) {
		const struct top *waker = &row->wakers[i];
		const struct goroutine *g = waker->n ? thread_of(a, waker->key) : NULL;

		if (!waker->n || waker->weight * 20 < row->hist.sum)
			continue;
		if (!g || thread_busy_share(g) < BUSY)
			return 0;
		known += top_sure(waker);
		n++;
	}
	return n < TOPS && known * 10 >= row->hist.sum * 9 ? n : 0;
}

/* Workers that have a function of their own are pool_small.c's. */
static bool have_own_function(const struct row *row)
{
	const struct top *wakers = top_first(row->waker_groups);

	return wakers->key != top_first(row->functions)->key &&
	       (double)wakers->weight >= 0.8 * (double)row->hist.sum;
}

void rule_few_threads(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows && is_of_threads(a); i++) {
		const struct row *row = &a->rows[i];
		double waiting = (double)row->hist.sum / ((double)watched_ns(a) + 1);
		const struct pair *pair = pair_heaviest(a, (uint32_t)i);
		struct finding *finding;
		unsigned workers;

		if ((row->activity != ACT_COND && row->activity != ACT_SEMAPHORE) || row->hist.n < MIN_N ||
		    waiting < MIN_WORKERS || have_own_function(row))
			continue;
		workers = busy_workers(a, row);
		if (workers < MIN_WORKERS || waiting < workers)
			continue;
		finding = finding_add(a, "pool-small", share_of_tasks(a, (double)row->hist.sum));
		finding_at_most(finding, LEVEL_INFO);
		finding_text(
			finding,
			"%s waited %s for %u threads, which are busy more than %.0f %% of the time; %.1f "
			"wait at a time.",
			label_stack(a, row->stack).text, label_time(row->hist.sum).text, workers, 100 * BUSY,
			waiting);
		row_evidence(a, finding, row);
		if (top_first(pair->did)->n)
			finding_evidence(finding, "meanwhile mostly %s", pair_did(a, pair).text);
	}
}
