/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines that have called runtime.LockOSThread. A thread that dequeues one hands its P to the locked
 * thread, wakes it, and sleeps; when the goroutine waits, the P goes back. That is two switches of threads
 * instead of one of goroutines, which takes 200 ns.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* Minimum handovers to a function's goroutines: in all, and per second. */
enum { LEAST = 500, LEAST_RATE = 200 };

void rule_locked_thread(struct analysis *a)
{
	double seconds = (double)watched_ns(a) / 1e9;

	for (size_t i = 1; i < a->ngroups; i++) {
		const struct group *group = &a->groups[i];
		const struct handovers *all = &group->handovers;
		double rate = (double)all->n / seconds;
		struct finding *finding;

		if (group->system || all->n < LEAST || rate < LEAST_RATE || all->n * 2 < group->latency.n)
			continue;
		finding = finding_add(a, "locked-thread", share_of_tasks(a, (double)all->ns));
		finding_text(
			finding,
			"%s is locked to its thread. A P is handed to that thread %.0f times a second; each "
			"handover takes %s (mean), %s in all.",
			label_function(a, group->func).text, rate, label_time(all->ns / all->n).text,
			label_time(all->ns).text);
		finding->n = all->n;
		finding->total_ns = all->ns;
		finding->max_ns = all->most;
		finding->worst_ns = all->at - a->begin;
		finding->worst_goid = all->g;
		finding_evidence(finding, "%llu of %llu starts; up to %s; its latency p50 %s, of all p50 %s",
				 (unsigned long long)all->n, (unsigned long long)group->latency.n,
				 label_time(all->most).text,
				 label_time(histogram_quantile(&group->latency, 0.5)).text,
				 label_time(histogram_quantile(&a->latency, 0.5)).text);
		finding_next(finding, "fewer, larger pieces of work for that goroutine; or no LockOSThread");
	}
}
