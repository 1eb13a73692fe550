/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A P runs its timers between goroutines. Timers that become due while a goroutine runs fire together after
 * it (golang/go#38860, #18534).
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

enum { LEAST_SLICES = 10 };

static const struct group *timer_late_heaviest(const struct analysis *a, uint64_t *timers)
{
	const struct group *most = &a->groups[0];

	*timers = 0;
	for (size_t i = 1; i < a->ngroups; i++) {
		*timers += a->groups[i].late_timers;
		if (a->groups[i].late_timers > most->late_timers)
			most = &a->groups[i];
	}
	return most;
}

void rule_timer_late(struct analysis *a)
{
	uint64_t timers, end;
	const struct group *most = timer_late_heaviest(a, &timers);
	struct finding *finding;

	/* Rare cases are threads that lost their CPU. */
	if (most->late_slices < LEAST_SLICES || timers * 2 < a->timer_wakes)
		return;
	finding = finding_add(a, "timer-late", (double)most->late_slices_ns / p_time(a));
	finding_text(finding,
		     "%llu of %llu timers fired late, up to %llu at once, behind %s, which ran %s at a time.",
		     (unsigned long long)timers, (unsigned long long)a->timer_wakes,
		     (unsigned long long)most->late_most, label_function(a, most->func).text,
		     label_time(most->late_slices_ns / most->late_slices).text);
	finding->n = timers;
	finding->total_ns = most->late_slices_ns;
	end = most->late_at - a->begin;
	finding->worst_ns = end - most->late_ns;
	finding->max_ns = most->late_ns;
	finding->worst_goid = most->late_g;
	finding_evidence(finding, "%s ran until %.6f s, and %llu timers fired then",
			 label_who(a, most->late_g).text, (double)end / 1e9,
			 (unsigned long long)most->late_most);
	finding_next_why(a, finding, most->late_g, end - 1000000);
}
