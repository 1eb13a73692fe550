/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Many are woken for something that one of them gets: the others wait again at once. */
#include "analysis/rules/rules.h"

/* What it takes to wake a goroutine, or a thread, and to switch to it and back, besides the time that it
 * runs. */
#define SWITCH_NS        1000.0
#define THREAD_SWITCH_NS 5000.0

void rule_herd(struct analysis *a)
{
	double each = is_of_threads(a) ? THREAD_SWITCH_NS : SWITCH_NS;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double lost = (double)row->vain_ns + (double)row->vain * each;
		const struct top *waker = top_first(row->waker_groups);
		struct finding *finding;

		if (row->vain < 1000 || row->vain * 2 < row->hist.n)
			continue;
		finding = finding_add(a, "herd", lost / p_time(a));
		finding_text(finding,
			     "%s wakes up to %u %s at once; %llu of %llu wait again, in %s, and have "
			     "done nothing.",
			     label_function(a, a->groups[waker->key < a->ngroups ? waker->key : 0].func).text,
			     a->herd_most, is_of_threads(a) ? "threads" : "goroutines",
			     (unsigned long long)row->vain, (unsigned long long)row->hist.n,
			     label_stack(a, row->stack).text);
		finding->n = row->vain;
		finding->total_ns = (uint64_t)lost;
		finding->first_ns = row->first - a->begin;
		finding->worst_ns = row->max_at - a->begin;
		finding->worst_goid = row->max_g;
		finding->stack = row->stack;
		finding_evidence(finding, "they ran %s for that; latency p50 %s, p99 %s",
				 label_time(row->vain_ns).text,
				 label_time(histogram_quantile(&a->latency, 0.5)).text,
				 label_time(histogram_quantile(&a->latency, 0.99)).text);
		finding_next(finding, "Signal instead of Broadcast, or a channel");
	}
}
