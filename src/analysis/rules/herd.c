/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Many goroutines are woken for something that one of them gets; the others wait again at once. Whether one
 * did something in a short time is not in a trace, so only those count that hardly ran.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "analysis/words.h"

/* Cost of waking a goroutine (thread) and of switching to it and back, without its running time. */
#define SWITCH_NS        1000.0
#define THREAD_SWITCH_NS 5000.0

/* Mean running time, with the probes, of one that only looks: Go 1.26, 1.9 us; glibc, 3.2 us. */
#define MOST_LOOK_NS        3000
#define MOST_THREAD_LOOK_NS 6000

void rule_herd(struct analysis *a)
{
	double each = is_of_threads(a) ? THREAD_SWITCH_NS : SWITCH_NS;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double lost = (double)row->futile_ns + (double)row->futile * each;
		const struct top *waker = top_first(row->waker_groups);
		uint32_t most = a->groups[top_first(row->functions)->key].peak;
		const struct pair *pair = pair_heaviest(a, (uint32_t)i);
		uint64_t known = row->hist.n - row->no_waker;
		struct finding *finding;

		if (row->futile < 1000 || !known || row->futile * 2 < known ||
		    row->futile_ns > row->futile * (is_of_threads(a) ? MOST_THREAD_LOOK_NS : MOST_LOOK_NS))
			continue;
		/* Those whose wakers were not recorded are no better. */
		finding = finding_add(a, "herd", lost * ((double)row->hist.n / (double)known) / p_time(a));
		finding_text(finding,
			     "%s wakes up to %u %s at once. After %llu of %llu wake-ups they ran for %s "
			     "(mean) and waited again, in %s.",
			     pair->stack ? label_stack(a, pair->stack).text
					 : label_function(a, a->groups[waker->key].func).text,
			     most < row->herd_most ? most : row->herd_most, words_of(a)->many,
			     (unsigned long long)row->futile, (unsigned long long)known,
			     label_time(row->futile_ns / row->futile).text, label_stack(a, row->stack).text);
		finding_of_row(a, finding, row);
		finding->n = row->futile;
		finding->total_ns = (uint64_t)lost;
		if (known < row->hist.n)
			finding_evidence(finding,
					 "%llu wake-ups in all; the wakers of the rest are not known",
					 (unsigned long long)row->hist.n);
		finding_evidence(finding, "they ran %s for that; latency p50 %s, p99 %s",
				 label_time(row->futile_ns).text,
				 label_time(histogram_quantile(&a->latency, 0.5)).text,
				 label_time(histogram_quantile(&a->latency, 0.99)).text);
		finding_next(finding,
			     is_of_threads(a)
				     ? "if one is enough: pthread_cond_signal instead of "
				       "pthread_cond_broadcast"
				     : "if one is enough: Signal instead of Broadcast, or a channel");
	}
}
