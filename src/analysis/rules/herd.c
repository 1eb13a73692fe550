/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Many goroutines are woken for something that one of them gets; the others wait again at once. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/intervals.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

/* Cost of waking a goroutine (thread) and of switching to it and back, without its running time. */
#define SWITCH_NS        1000.0
#define THREAD_SWITCH_NS 5000.0

void rule_herd(struct analysis *a)
{
	double each = is_of_threads(a) ? THREAD_SWITCH_NS : SWITCH_NS;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double lost = (double)row->futile_ns + (double)row->futile * each;
		const struct top *waker = top_first(row->waker_groups);
		struct finding *finding;

		if (row->futile < 1000 || row->futile * 2 < row->hist.n)
			continue;
		finding = finding_add(a, "herd", lost / p_time(a));
		finding_text(finding,
			     "%s wakes up to %u %s at once; %llu of %llu wait again, in %s, and have "
			     "done nothing.",
			     label_function(a, a->groups[waker->key < a->ngroups ? waker->key : 0].func).text,
			     row->herd_most, words_of(a)->many, (unsigned long long)row->futile,
			     (unsigned long long)row->hist.n, label_stack(a, row->stack).text);
		finding->n = row->futile;
		finding->total_ns = (uint64_t)lost;
		finding->first_ns = row->first - a->begin;
		finding->worst_ns = row->max_at - a->begin;
		finding->worst_goid = row->max_g;
		finding->max_ns = row->hist.max;
		finding->stack = row->stack;
		finding_evidence(finding, "they ran %s for that; latency p50 %s, p99 %s",
				 label_time(row->futile_ns).text,
				 label_time(histogram_quantile(&a->latency, 0.5)).text,
				 label_time(histogram_quantile(&a->latency, 0.99)).text);
		finding_next(finding, "Signal instead of Broadcast, or a channel");
	}
}
