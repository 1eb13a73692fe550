/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines have to help the collector: they allocate faster than it frees. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

static const struct group *assist_heaviest(const struct analysis *a)
{
	const struct group *most = &a->groups[0];

	for (size_t i = 1; i < a->ngroups; i++) {
		if (!a->groups[i].system &&
		    (most == &a->groups[0] || a->groups[i].spent[ACT_ASSIST] > most->spent[ACT_ASSIST]))
			most = &a->groups[i];
	}
	return most;
}

static const struct row *heaviest_row(const struct analysis *a)
{
	const struct row *most = &a->rows[0];

	for (size_t i = 1; i < a->nrows; i++) {
		if (a->rows[i].activity == ACT_ASSIST &&
		    (most == &a->rows[0] || a->rows[i].hist.sum > most->hist.sum))
			most = &a->rows[i];
	}
	return most;
}

void rule_assist(struct analysis *a)
{
	uint64_t assist = a->total_spent[ACT_ASSIST], waited = a->total_spent[ACT_GC];
	double share = assist_share(a);
	const struct group *group;
	const struct row *row;
	struct finding *finding;

	if (share < 0.1 || !a->gc.cycles)
		return;
	group = assist_heaviest(a);
	row = heaviest_row(a);
	finding = finding_add(a, "assist", share);
	finding_text(finding,
		     "%s spends %.0f %% of its running time in GC assists. All goroutines together spend %s "
		     "in them.",
		     label_function(a, group->func).text,
		     100.0 * (double)group->spent[ACT_ASSIST] /
			     (double)(group->spent[ACT_ASSIST] + group->spent[ACT_CODE] + 1),
		     label_time(assist).text);
	finding->n = row->hist.n;
	finding->total_ns = assist;
	finding->max_ns = row->hist.max;
	finding->first_ns = row->first ? row->first - a->begin : 0;
	finding->worst_ns = row->max_at ? row->max_at - a->begin : 0;
	finding->worst_goid = row->max_g;
	finding->stack = row->stack;
	finding_evidence(finding, "allocates in %s; assists up to %s; %s more waiting for the collector",
			 label_stack(a, row->stack).text, label_time(row->hist.max).text,
			 label_time(waited).text);
	if (a->gc.goal_max)
		finding_evidence(finding, "%llu cycles, heap up to %.0f MB, goal up to %.0f MB",
				 (unsigned long long)a->gc.cycles, (double)a->gc.heap_max / 1e6,
				 (double)a->gc.goal_max / 1e6);
	else
		finding_evidence(finding, "%llu cycles, heap up to %.0f MB%s",
				 (unsigned long long)a->gc.cycles, (double)a->gc.heap_max / 1e6,
				 a->gc.is_off ? "; GOGC is off: a memory limit makes it run, or runtime.GC"
					      : "");
	finding_next(finding, "go tool pprof -sample_index=alloc_space, or %s",
		     gc_may_be_limited(&a->gc) ? "raise GOMEMLIMIT if it is set, else GOGC"
					       : "GOGC=400 with GOMEMLIMIT");
}
