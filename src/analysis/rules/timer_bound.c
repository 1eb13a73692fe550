/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits that end when time has passed, not when there is something to do: for one that looks every 20 ms, for
 * the next tick of a limiter, for a condition that is not signalled. Batches, limits and periodic work are
 * made this way, so it is no more than information.
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/order.h"
#include "analysis/tables.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

enum { MIN_N = 20, MIN_LONG_N = 5 };

/* The one that ends the waits does so after its timer has woken it. */
static bool of_answers(struct analysis *a, const struct row *row, uint32_t index, double impact)
{
	const struct pair *pair;
	struct finding *finding;

	if (row->after_timer * 10 < row->hist.n * 7)
		return false;
	pair = pair_heaviest(a, index);
	/* It waits as they do, and passes on what it got: its timer was for something else. */
	if (top_first(pair->did)->key >> 8 == row->stack)
		return false;
	/* One that sleeps between answers is busy: busy-owner, pool-small. */
	if (pair_busy_share(pair) >= 0.5 || row_is_for_answers(a, row) == ANSWERS_UNLIKELY)
		return false;
	finding = finding_add(a, "timer-bound", impact);
	finding_at_most(finding, LEVEL_INFO);
	finding_text(finding,
		     "%s waited %s for %s, which ends the waits when a timer wakes or starts it: mostly %s.",
		     label_stack(a, row->stack).text, label_time(row->hist.sum).text,
		     label_stack(a, pair->stack).text, pair_did(a, pair).text);
	row_evidence(a, finding, row);
	finding->waker_stack = pair->stack;
	return true;
}

/* Several wait for the ticks of one timer. */
static bool of_ticks(struct analysis *a, const struct row *row, double impact)
{
	struct finding *finding;

	for (size_t i = 1; i < a->nlocks; i++) {
		const struct lock *lock = &a->locks[i];

		if (lock_is_held(lock) || lock->most_waiting < 2 || lock->waits.n < MIN_N ||
		    top_first(lock->waited)->key != row->stack ||
		    lock->waits.sum * 2 < 3 * lock->contended_ns)
			continue;
		finding = finding_add(a, "timer-bound", impact);
		finding_at_most(finding, LEVEL_INFO);
		finding_text(finding,
			     "%s waited %s for the ticks of one timer, %.0f a second: up to %u at once.",
			     label_stack(a, row->stack).text, label_time(row->hist.sum).text,
			     (double)lock->waits.n / ((double)watched_ns(a) / 1e9), lock->most_waiting);
		row_evidence(a, finding, row);
		return true;
	}
	return false;
}

/* Waits that a timer ended, as far as the trace shows. */
struct timed {
	uint64_t n, ns;
};

/* Of threads, other processes and other interrupts that end a wait are known, too: they are no timer. */
static struct timed timed_waits(const struct analysis *a, uint32_t index)
{
	struct timed timed = {a->rows[index].no_waker, a->rows[index].no_waker_ns};

	for (size_t i = 1; i < a->npairs; i++) {
		const struct pair *pair = &a->pairs[i];

		if (pair->row != index || !a->stacks[pair->stack].outside || stack_is_timer(a, pair->stack))
			continue;
		timed.n -= pair->n < timed.n ? pair->n : timed.n;
		timed.ns -= pair->ns < timed.ns ? pair->ns : timed.ns;
	}
	return timed;
}

static void of_conditions(struct analysis *a, const struct row *row, const struct timed *timed, double impact)
{
	struct finding *finding;

	if (row->activity != ACT_COND || row_is_idle(a, row))
		return;
	finding = finding_add(a, "timer-bound", impact);
	finding_at_most(finding, LEVEL_INFO);
	finding_text(finding,
		     "%s waited %s for a condition. A timer, and nothing in the program, ended %llu of %llu "
		     "waits, after %s each (mean), %s in all.",
		     label_stack(a, row->stack).text, label_time(row->hist.sum).text,
		     (unsigned long long)timed->n, (unsigned long long)row->hist.n,
		     label_time(timed->ns / timed->n).text, label_time(timed->ns).text);
	row_evidence(a, finding, row);
	/* Threads of a pool, each of which waits for what only another one of them can do. */
	if (timed->n < row->hist.n && top_first(row->waker_groups)->key == top_first(row->functions)->key)
		finding_evidence(finding, "the other waits were ended by threads of the same function, %s",
				 label_function(a, a->groups[top_first(row->functions)->key].func).text);
}

/* Most of the waits, or those that take two fifths of the time: a condition may be signalled now and then. */
static bool mostly_by_timer(const struct row *row, const struct timed *timed)
{
	return (timed->n >= MIN_N && timed->n * 10 >= row->hist.n * 7) ||
	       (timed->n >= MIN_LONG_N && timed->ns * 5 >= row->hist.sum * 2);
}

void rule_timer_bound(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double impact = share_of_tasks(a, (double)row->hist.sum);
		struct timed timed;

		if (!activity_is_for_others(row->activity) || row->activity == ACT_LOCK ||
		    row->hist.n < MIN_N || impact < 0.05 || of_answers(a, row, (uint32_t)i, impact))
			continue;
		timed = timed_waits(a, (uint32_t)i);
		if (!mostly_by_timer(row, &timed))
			continue;
		if (row->activity != ACT_RECEIVE || !of_ticks(a, row, impact))
			of_conditions(a, row, &timed, impact);
	}
}
