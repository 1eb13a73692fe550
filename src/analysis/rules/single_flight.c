/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Many wait at one place for the result of a call that one of them makes: golang.org/x/sync/singleflight, a
 * cache that is filled once. All of them are as slow as that call. At a barrier each waits for all:
 * straggler.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

enum { MIN_SHARED_WAKES = 5, MIN_MEAN_NS = 1000000 };

static bool single_flight_applies(const struct analysis *a, const struct row *row, const struct pair *pair,
				  double impact)
{
	if (row->shared_wakes < MIN_SHARED_WAKES || row->shared_ns * 2 < row->hist.sum ||
	    row->shared_ns / row->shared_n < MIN_MEAN_NS || impact < 0.05)
		return false;
	/* The last one at a barrier has made no call for the others. */
	if (a->stacks[row->stack].primitive == PRIM_BARRIER)
		return false;
	/* A goroutine that sends to many may have waited for them, unlike one that closes or calls Done. */
	return row->activity == ACT_JOIN || a->stacks[pair->stack].primitive == PRIM_CLOSE ||
	       pair_busy_share(pair) >= 0.8;
}

/* For how long there was a call that others waited for, about: they begin to wait soon after it begins. */
static uint64_t covered_ns(const struct row *row)
{
	return row->shared_ns / row->shared_n * row->shared_wakes;
}

void rule_single_flight(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double impact = share_of_tasks(a, (double)row->shared_ns);
		const struct pair *pair = pair_heaviest(a, (uint32_t)i);
		struct finding *finding;

		if (!single_flight_applies(a, row, pair, impact))
			continue;
		finding = finding_add(a, "single-flight", impact);
		/* To wait for a call that another one makes is what it is for, unless there is nearly always
		 * such a call. */
		if (finding->level < LEVEL_HIGH || covered_ns(row) * 2 < watched_ns(a))
			finding_at_most(finding, LEVEL_INFO);
		finding_text(
			finding,
			"Up to %u %s at a time waited in %s for a call that one of them made, %s in all. "
			"It was mostly %s.",
			row->most_shared, words_of(a)->many, label_stack(a, row->stack).text,
			label_time(row->shared_ns).text, pair_did(a, pair).text);
		row_evidence(a, finding, row);
		finding->total_ns = row->shared_ns;
		finding->waker_stack = pair->stack;
		finding_evidence(finding, "%llu times one ended the waits of %.1f, at %s",
				 (unsigned long long)row->shared_wakes,
				 (double)row->shared_n / (double)row->shared_wakes,
				 label_stack(a, pair->stack).text);
	}
}
