/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines are created all the time, do not end, and are woken again and again, by a ticker for example.
 * They never wait long, so the rule leak does not see them.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/rules/rules.h"

enum { LEAST = 20, LEAST_NS = 1500000000 };

/* Connections come and go as their other ends want; these wait for the program itself, or for time to pass.
 */
static bool waits_for_itself(const struct group *group, unsigned *most)
{
	const uint64_t *spent = group->spent;
	uint64_t own = spent[ACT_SLEEP] + spent[ACT_SELECT] + spent[ACT_RECEIVE] + spent[ACT_COND];

	*most = ACT_SLEEP;
	for (unsigned i = 1; i < ACT_COUNT; i++) {
		if (activity_is_wait(i) && spent[i] > spent[*most])
			*most = i;
	}
	return own * 10 >= activities_watched_ns(spent) * 8;
}

static bool leak_awake_applies(const struct analysis *a, const struct group *group, unsigned *most)
{
	return !group->system && group->suspects < LEAST && group->created >= group->ended + LEAST &&
	       group->ended * 10 <= group->created && group->blocks >= 3 * group->created &&
	       waits_for_itself(group, most) && group_grows_throughout(a, group);
}

void rule_leak_awake(struct analysis *a)
{
	double seconds = (double)watched_ns(a) / 1e9;

	if (watched_ns(a) < LEAST_NS)
		return;
	for (size_t i = 1; i < a->ngroups; i++) {
		const struct group *group = &a->groups[i];
		double rate = (double)(group->created - group->ended) / seconds;
		struct finding *finding;
		unsigned most;

		if (!leak_awake_applies(a, group, &most))
			continue;
		finding = finding_add(a, "leak-awake", 0.05 + rate / 1000 > 0.5 ? 0.5 : 0.05 + rate / 1000);
		finding_text(finding,
			     "%s: %s a second are created and do not end (%llu at the start, %llu at the "
			     "end). Each is woken %s times a second, and waits (%s).",
			     label_function(a, group->func).text, label_number(rate).text,
			     (unsigned long long)group->at_start, (unsigned long long)group->alive,
			     label_number((double)group->blocks / seconds /
					  (double)(group->at_start + group->alive) * 2)
				     .text,
			     activity_name((enum activity)most));
		/* Those that come with connections are woken by others, and end with them. Where wakers are
		 * not recorded, those seem to be timers. */
		if (group->timer_wakes * 2 < group->blocks || a->ledger.ever_missing & DETAIL_WAKERS ||
		    group_is_of_connections(a, group))
			finding_at_most(finding, LEVEL_INFO);
		finding->n = group->created - group->ended;
		finding->waker_stack = group->creator;
		if (group->creator)
			finding_evidence(finding, "created in %s", label_stack(a, group->creator).text);
		finding_evidence(finding, "%llu created, %llu ended; they ran %s",
				 (unsigned long long)group->created, (unsigned long long)group->ended,
				 label_time(group->spent[ACT_CODE]).text);
		finding_next(finding, "gotrace report %s --all", a->options.file);
	}
}
