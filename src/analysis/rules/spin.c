/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A loop around a select with a default case uses a CPU to wait. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* Preemptions. If the loop also does some work, up to half of them may be elsewhere. */
enum { LEAST_N = 20 };

static bool spin_applies(const struct group *group)
{
	return !group->system && group->polling >= LEAST_N && group->polling * 2 >= group->preempted &&
	       group->blocks * 10 <= group->preempted;
}

void rule_spin(struct analysis *a)
{
	for (size_t i = 1; i < a->ngroups; i++) {
		const struct group *group = &a->groups[i];
		double share = (double)group->polling / (double)(group->preempted + !group->preempted);
		double lost = share * (double)(group->spent[ACT_CODE] + group->spent[ACT_ASSIST]);
		struct finding *finding;

		if (!spin_applies(group))
			continue;
		finding = finding_add(a, "spin", lost / p_time(a));
		finding_text(
			finding,
			"%s polls channels in a loop instead of waiting for them: it has a P for %s, at %s.",
			label_function(a, group->func).text, label_time((uint64_t)lost).text,
			label_near(a, group->polling_stack).text);
		finding->n = group->polling;
		finding->total_ns = (uint64_t)lost;
		finding->stack = group->polling_stack;
		finding_evidence(finding,
				 "preempted %llu times, %llu of them in a select that does not wait; "
				 "blocked %llu times",
				 (unsigned long long)group->preempted, (unsigned long long)group->polling,
				 (unsigned long long)group->blocks);
		finding_next(finding, "a select without default, or with a timer");
	}
}
