/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads give up their waits for a lock when time is up (pthread_mutex_timedlock, std::timed_mutex): who has
 * it holds it for longer than that, or waits for a lock of the one that gives up.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/tables.h"

enum { MIN_GIVEN_UP = 3 };

void rule_lock_timeout(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		double impact = share_of_tasks(a, (double)res->given_up_ns);
		struct finding *finding;

		if (res->parent != i || !res->lock || res->given_up < MIN_GIVEN_UP ||
		    res->given_up_ns * 5 < res->waits.sum || impact < 0.01)
			continue;
		finding = finding_add(a, "lock-timeout", impact);
		finding_text(
			finding,
			"%llu of %llu waits for a lock in %s were given up, after %s each (mean): %s in all.",
			(unsigned long long)res->given_up, (unsigned long long)res->waits.n,
			lock_waiters(a, res).text, label_time(res->given_up_ns / res->given_up).text,
			label_time(res->given_up_ns).text);
		lock_evidence(a, finding, res);
		finding_evidence(finding,
				 "two that take two locks in different orders keep each other waiting so");
	}
}
