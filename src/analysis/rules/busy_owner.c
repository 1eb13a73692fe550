/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Many ask one goroutine for something and wait for its answer, and it answers one at a time: a log writer,
 * an event loop, a cache with an owner. Where they wait to send, it is slow-consumer.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "analysis/words.h"

enum { MIN_N = 20 };

static bool busy_owner_applies(const struct analysis *a, const struct row *row, const struct pair *pair,
			       double impact)
{
	const struct top *waker = top_first(row->wakers), *group = top_first(row->waker_groups);

	if (row->activity != ACT_RECEIVE && row->activity != ACT_SELECT && row->activity != ACT_COND &&
	    row->activity != ACT_JOIN)
		return false;
	/* One at a time, and others wait meanwhile. A broadcast ends many waits in one time slice. */
	return impact >= 0.05 && row->hist.n >= MIN_N && waker->n &&
	       top_sure(waker) * 10 >= row->hist.sum * 8 && group->key != top_first(row->functions)->key &&
	       row->waker_turns * 10 >= row->hist.n * 7 &&
	       (double)row->hist.sum >= 1.5 * (double)watched_ns(a) && pair_busy_share(pair) >= 0.8 &&
	       row_is_for_answers(a, row) != ANSWERS_UNLIKELY && !row_is_for_work(a, row, pair);
}

/* It waited in a condition for nearly the whole trace. */
static bool is_idle_in_condition(const struct analysis *a, const struct goroutine *g)
{
	uint64_t lived = activities_watched_ns(g->spent);

	return g->spent[ACT_COND] >= lived / 10 * 9 && lived >= watched_ns(a) / 10 * 9;
}

/* Others of the owner's function could have answered if they had been woken. A Signal is lost if it is sent
 * before anybody waits; one that is sent for the first of several items wakes too few. */
static void idle_peers_evidence(const struct analysis *a, struct finding *finding, uint64_t group,
				uint64_t owner)
{
	uint64_t n = 0;
	uint32_t stack = 0;

	for (size_t i = 1; i < a->ngs; i++) {
		const struct goroutine *g = &a->gs[i];

		if (g->group != group || g->goid == owner || !is_idle_in_condition(a, g))
			continue;
		n++;
		stack = g->stack;
	}
	if (n)
		finding_evidence(
			finding,
			"%llu more of that function are idle in %s: they are not woken, or serve others",
			(unsigned long long)n, label_stack(a, stack).text);
}

void rule_busy_owner(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double impact = share_of_tasks(a, (double)row->hist.sum);
		const struct pair *pair;
		struct finding *finding;

		if (impact < 0.05 || row->hist.n < MIN_N)
			continue;
		pair = pair_heaviest(a, (uint32_t)i);
		if (!busy_owner_applies(a, row, pair, impact))
			continue;
		finding = finding_add(a, "busy-owner", impact);
		finding_text(finding, "%s waited %s for the answers of one %s, %s in %s: mostly %s.",
			     label_stack(a, row->stack).text,
			     label_time(top_sure(top_first(row->wakers))).text, words_of(a)->one,
			     label_id(a, top_first(row->wakers)->key).text, label_stack(a, pair->stack).text,
			     pair_did(a, pair).text);
		/* A reader of a shared connection passes on the answers of another machine. One that sleeps
		 * may be at leisure, and give out work. One that is mostly ready has no CPU. */
		if (pair_own_share(pair) < 0.5 || (top_first(pair->did)->key & 0xff) == ACT_RUNNABLE ||
		    (row_is_for_answers(a, row) == ANSWERS_LIKELY &&
		     (top_first(pair->did)->key & 0xff) == ACT_SLEEP))
			finding_at_most(finding, LEVEL_INFO);
		row_evidence(a, finding, row);
		finding->waker_stack = pair->stack;
		finding->next_stack = did_wait(pair->did, pair->meanwhile);
		finding_evidence(finding,
				 "it answers one at a time, busy %.0f %% of these waits; %.1f wait at a time",
				 100 * pair_busy_share(pair), (double)row->hist.sum / (double)watched_ns(a));
		idle_peers_evidence(a, finding, top_first(row->waker_groups)->key,
				    top_first(row->wakers)->key);
	}
}
