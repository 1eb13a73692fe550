/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines have to help the collector: they allocate faster than it frees. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

/* Rows with less of the assists than this part do not lead to the heaviest place. */
enum { LEAST_PART = 1000 };

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

/* The assists of all stacks with the same place: many lead to one line, by way of a library. */
static uint64_t assists_at(const struct analysis *a, const struct row *row)
{
	uint64_t ns = 0;

	for (size_t i = 1; i < a->nrows; i++) {
		if (a->rows[i].activity == ACT_ASSIST && stacks_share_site(a, a->rows[i].stack, row->stack))
			ns += a->rows[i].hist.sum;
	}
	return ns;
}

/* Returns a row at the heaviest place, the heaviest one of it. Row 0: there is none. */
static const struct row *heaviest_row(const struct analysis *a)
{
	const struct row *most = &a->rows[0];
	uint64_t most_ns = 0;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		uint64_t ns;

		if (row->activity != ACT_ASSIST || row->hist.sum * LEAST_PART < a->total_spent[ACT_ASSIST])
			continue;
		ns = assists_at(a, row);
		if (ns < most_ns || (ns == most_ns && row->hist.sum <= most->hist.sum))
			continue;
		most_ns = ns;
		most = row;
	}
	return most;
}

uint32_t assist_place(const struct analysis *a, double *share)
{
	const struct row *row = heaviest_row(a);

	*share = (double)assists_at(a, row) / (double)(a->total_spent[ACT_ASSIST] + 1);
	return row->stack;
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
