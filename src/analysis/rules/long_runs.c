/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Time slices of a few milliseconds delay everything else while all Ps are in them. That is how the scheduler
 * works, and a fault only for a program that must be faster, so it is information. From 30 ms on it is the
 * rule hog.
 */
#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

enum { LEAST = 20, LEAST_LATENCY_NS = 2000000 };

void rule_long_runs(struct analysis *a)
{
	const struct group *most = &a->groups[0];
	double waited = a->latency_by[DELAY_NO_P];
	uint32_t row;
	struct finding *finding;

	for (size_t i = 1; i < a->ngroups; i++) {
		if (!a->groups[i].system && a->groups[i].delaying_ns > most->delaying_ns)
			most = &a->groups[i];
	}
	if (most->delaying < LEAST || histogram_quantile(&a->latency, 0.99) < LEAST_LATENCY_NS ||
	    (double)most->delaying_ns < 0.1 * p_time(a))
		return;
	row = cpu_first(most->cpu);
	finding = finding_add(a, "long-runs", (double)most->delaying_ns / p_time(a));
	finding_at_most(finding, LEVEL_INFO);
	finding_text(finding,
		     "%s ran %llu times for 2 ms or more (%s each) while others waited for a P (up to %s in "
		     "the trace)%s%s.",
		     label_function(a, most->func).text, (unsigned long long)most->delaying,
		     label_time(most->delaying_ns / most->delaying).text, label_time(a->latency.max).text,
		     row ? ", mostly in " : "", row ? cpu_place(a, row).text : "");
	finding->n = most->delaying;
	finding->total_ns = most->delaying_ns;
	finding_evidence(finding, "latency p50 %s, p99 %s; all together waited %s for a P",
			 label_time(histogram_quantile(&a->latency, 0.5)).text,
			 label_time(histogram_quantile(&a->latency, 0.99)).text,
			 label_time((uint64_t)waited).text);
	finding_next(finding, "smaller pieces of work, or more Ps");
}
