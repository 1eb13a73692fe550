/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Many requests do the same at once, now and then, and all the others do not do it at all: what they have in
 * common has expired, and each of them loads it again.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/handlers.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

enum { MIN_BURSTS = 2, MIN_AT_ONCE = 8, MIN_REQUESTS = 6, MIN_MEAN_NS = 10000000 };

/* A request that waits for another one, or for a lock, loads nothing. */
static bool may_load(const struct analysis *a, const struct row *row)
{
	switch (row->activity) {
	case ACT_SYSCALL:
	case ACT_NETWORK:
	case ACT_SLEEP:
	case ACT_DISK:
		return true;
	default:
		return row->activity == ACT_SELECT && a->stacks[row->stack].for_peer;
	}
}

/* The goroutines of the row block far more often than here, or most of them never do: as many requests, or
 * more, come and go without a wait at this place. */
static bool most_do_without(const struct analysis *a, const struct row *row)
{
	const struct group *group = &a->groups[top_first(row->functions)->key];

	return group->blocks + group->created >= MIN_REQUESTS * row->hist.n;
}

/* A place where waits are short, too, is one where many requests wait, and are slow now and then. */
static bool comes_in_bursts(const struct analysis *a, const struct row *row)
{
	const struct bursts *bursts = &row->bursts;

	return bursts->waits * 10 >= row_waits(row)->n * 9 && bursts->ns >= MIN_MEAN_NS * bursts->waits &&
	       bursts->n >= MIN_BURSTS && bursts->waits >= MIN_AT_ONCE * bursts->n &&
	       bursts->ns >= MIN_AT_ONCE * bursts->covered_ns / 2 && bursts->covered_ns * 4 <= watched_ns(a);
}

void rule_stampede(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		const struct bursts *bursts = &row->bursts;
		double impact = share_of_tasks(a, (double)bursts->ns);
		double each = (double)bursts->waits / (double)(bursts->n ? bursts->n : 1);
		double at_once = (double)bursts->ns / (double)(bursts->covered_ns ? bursts->covered_ns : 1);
		struct finding *finding;

		if (!may_load(a, row) || !stack_handler(a, row->stack) || impact < 0.02 ||
		    !comes_in_bursts(a, row) || !most_do_without(a, row))
			continue;
		finding = finding_add(a, "stampede", impact);
		/* What they load is not known. */
		finding_at_most(finding, LEVEL_MEDIUM);
		finding_text(finding,
			     "%llu times some %.0f requests at once waited in %s, and hardly any between "
			     "these times: %s.",
			     (unsigned long long)bursts->n, at_once < each ? at_once : each,
			     label_stack(a, row->stack).text, label_time(bursts->ns).text);
		row_evidence(a, finding, row);
		finding_evidence(finding, "if all of them load the same, one could do it for all "
					  "(golang.org/x/sync/singleflight), or before it expires");
	}
}
