/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads wait for a few others, which are busy nearly all the time: a pool that is too small. Where all
 * threads begin with one function, as Python's do, the workers are known only by what they do: they end the
 * waits. It may be all that the machine can do for them, so it is no more than information.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
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

/* Whether what the wakers mostly do meanwhile is to wait for events: they are idle. */
static bool wakers_wait_for_events(const struct analysis *a, const struct pair *pair)
{
	uint64_t did = top_first(pair->did)->key;

	return (did & 0xff) == ACT_NETWORK && stack_takes_work(a, (uint32_t)(did >> 8));
}

/* The share of its time in which a thread does not wait for others. */
static double thread_busy_share(const struct goroutine *g)
{
	uint64_t all = activities_watched_ns(g->spent), waits = 0;

	for (unsigned i = 1; i < ACT_COUNT; i++)
		waits += activity_is_for_others(i) ? g->spent[i] : 0;
	return all ? (double)(all - waits) / (double)all : 0;
}

/* All waits at a place: those of threads with names of their own are rows of their own. */
struct waits_there {
	uint64_t n, ns;
	struct top wakers[TOPS];
};

static struct waits_there waits_gather(const struct analysis *a, size_t first)
{
	const struct row *row = &a->rows[first];
	struct waits_there all = {0};

	for (size_t i = first; i < a->nrows; i++) {
		const struct row *one = &a->rows[i];

		if (one->activity != row->activity || !stacks_share_site(a, one->stack, row->stack))
			continue;
		all.n += one->hist.n;
		all.ns += one->hist.sum;
		for (unsigned j = 0; j < TOPS; j++) {
			if (one->wakers[j].n)
				top_add(all.wakers, one->wakers[j].key, top_sure(&one->wakers[j]));
		}
	}
	return all;
}

static bool is_first_there(const struct analysis *a, size_t index)
{
	for (size_t i = 1; i < index; i++) {
		if (a->rows[i].activity == a->rows[index].activity &&
		    stacks_share_site(a, a->rows[i].stack, a->rows[index].stack))
			return false;
	}
	return true;
}

/* Returns how many threads end nearly all waits, or 0: if there may be more, or if one of them is not busy.
 */
static unsigned busy_workers(const struct analysis *a, const struct waits_there *waits)
{
	uint64_t known = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < TOPS; i++) {
		const struct top *waker = &waits->wakers[i];
		const struct goroutine *g = waker->n ? thread_of(a, waker->key) : NULL;

		if (!waker->n || waker->weight * 20 < waits->ns)
			continue;
		if (!g || thread_busy_share(g) < BUSY)
			return 0;
		known += top_sure(waker);
		n++;
	}
	return n < TOPS && known * 10 >= waits->ns * 9 ? n : 0;
}

/* Workers that have a function of their own are pool_small.c's. */
static bool have_own_function(const struct row *row)
{
	const struct top *wakers = top_first(row->waker_groups);

	return wakers->key != top_first(row->functions)->key &&
	       (double)wakers->weight >= 0.8 * (double)row->hist.sum;
}

static void few_threads_look_at(struct analysis *a, size_t index)
{
	const struct row *row = &a->rows[index];
	const struct waits_there waits = waits_gather(a, index);
	double waiting = (double)waits.ns / ((double)watched_ns(a) + 1);
	unsigned workers = busy_workers(a, &waits);
	const struct pair *pair = pair_heaviest(a, (uint32_t)index);
	struct finding *finding;

	if (waits.n < MIN_N || workers < MIN_WORKERS || waiting < workers || wakers_wait_for_events(a, pair))
		return;
	finding = finding_add(a, "pool-small", share_of_tasks(a, (double)waits.ns));
	finding_at_most(finding, LEVEL_INFO);
	finding_text(
		finding,
		"%s waited %s for %u threads, which are busy more than %.0f %% of the time; %.1f wait at "
		"a time.",
		label_stack(a, row->stack).text, label_time(waits.ns).text, workers, 100 * BUSY, waiting);
	row_evidence(a, finding, row);
	if (waits.ns > row->hist.sum)
		finding_evidence(finding, "in other stacks that end there: %s",
				 label_time(waits.ns - row->hist.sum).text);
	finding->total_ns = waits.ns;
	if (top_first(pair->did)->n)
		finding_evidence(finding, "meanwhile mostly %s", pair_did(a, pair).text);
}

void rule_few_threads(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows && is_of_threads(a); i++) {
		const struct row *row = &a->rows[i];

		if ((row->activity == ACT_COND || row->activity == ACT_SEMAPHORE) && row->hist.n &&
		    is_first_there(a, i) && !have_own_function(row))
			few_threads_look_at(a, i);
	}
}
