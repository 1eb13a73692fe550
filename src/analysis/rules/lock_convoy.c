/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Many queue for a lock that each holds only briefly: every holder has waited, and the handover costs more
 * than the work (golang/go#33747).
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/tables.h"
#include "analysis/words.h"

enum { QUEUE = 4 }; /* waiters */
#define SLOW_TURN_NS 200000

static bool lock_convoy_applies(const struct analysis *a, const struct resource *res)
{
	return resource_crowded_ns(res, QUEUE) * 10 >= watched_ns(a) &&
	       res->given_up_ns * 5 < res->waits.sum && res->by_waiters * 10 >= res->releases * 6 &&
	       !lock_is_held_some_time(res) && lock_share_calls(res) < 0.5;
}

/*
 * Whether a hand-over takes far longer than the hold and than waking a goroutine does: the next one, or one
 * that holds the lock and is preempted, waits for a CPU.
 */
static bool is_short_of_cpu(const struct resource *res)
{
	uint64_t turn = res->contended_ns / res->waits.n;

	return turn >= SLOW_TURN_NS && turn > 8 * histogram_quantile(&res->min_holds, 0.5);
}

void rule_lock_convoy(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		struct finding *finding;
		double impact;

		if (res->parent != i || !lock_matters(a, res, &impact) || !lock_convoy_applies(a, res))
			continue;
		finding = finding_add(a, "lock-convoy", impact);
		finding_text(finding,
			     "Up to %u %s queue for %s (p50, up to %s) for %s that is held for %s (up to "
			     "%s), in %s.",
			     res->most_waiting, words_of(a)->many,
			     label_time(histogram_quantile(&res->waits, 0.5)).text,
			     label_time(res->waits.max).text, lock_called(a, res, "a lock"),
			     label_time(histogram_quantile(&res->min_holds, 0.5)).text,
			     label_time(res->min_holds.max).text, lock_waiter(a, res).text);
		lock_evidence(a, finding, res);
		if (is_short_of_cpu(res))
			finding->held_up = WAITED_FOR_CPU;
	}
}
