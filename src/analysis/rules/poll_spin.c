/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A loop asks for events all the time, and does nothing with what it learns: something is always ready, such
 * as a connection to write to for which there is nothing to write (level-triggered EPOLLOUT).
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

enum { LEAST_RATE = 2000 };

/* Other system calls of the same threads. */
static uint64_t other_calls(const struct analysis *a, uint64_t group)
{
	uint64_t n = 0;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (row->activity == ACT_SYSCALL && top_first(row->functions)->key == group &&
		    !stack_takes_by(a, row->stack))
			n += row->hist.n;
	}
	return n;
}

static void poll_spin_look_at(struct analysis *a, const struct row *row)
{
	double seconds = (double)watched_ns(a) / 1e9;
	uint64_t index = top_first(row->functions)->key, others;
	const struct group *group = &a->groups[index < a->ngroups ? index : 0];
	double busy = (double)(group->spent[ACT_CODE] + group->spent[ACT_SYSCALL]);
	struct finding *finding;

	if ((double)row->hist.n < LEAST_RATE * seconds || (double)row->hist.sum * 2 < busy || !index)
		return;
	others = other_calls(a, index);
	if (others * 2 > row->hist.n)
		return;
	finding = finding_add(a, "poll-spin", busy / p_time(a));
	finding_text(finding,
		     "%s is called %.0f times a second, with %.2f other system calls for each: hardly "
		     "anything is done "
		     "with what it returns.",
		     label_stack(a, row->stack).text, (double)row->hist.n / seconds,
		     (double)others / (double)row->hist.n);
	row_evidence(a, finding, row);
	callers_evidence(a, finding, "called by", row->stack);
	finding_next(finding, "look for what is always ready: EPOLLOUT with nothing to write, or an event "
			      "that is not read");
}

void rule_poll_spin(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows && is_of_threads(a); i++) {
		const struct row *row = &a->rows[i];
		const char *by =
			row->activity == ACT_SYSCALL && row->hist.n ? stack_takes_by(a, row->stack) : NULL;

		/* Each connection that is accepted is work, which another thread may do. */
		if (by && !strstr(by, "ccept"))
			poll_spin_look_at(a, row);
	}
}
