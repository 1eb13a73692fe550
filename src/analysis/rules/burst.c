/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Many goroutines are woken, or started by timers, at once and queue behind each other, in a program that is
 * mostly idle. */
#include <stdio.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

/* They mostly wait until a P that is idle wakes up, and not behind each other: its thread has no CPU. */
static bool is_late_wakeup(const struct analysis *a)
{
	double all = 0;

	for (unsigned i = 0; i < DELAY_COUNT; i++)
		all += a->latency_by[i];
	return !is_of_threads(a) && a->latency_by[DELAY_WAKEUP] * 2 > all;
}

void rule_burst(struct analysis *a)
{
	uint64_t p99 = histogram_quantile(&a->latency, 0.99);
	char whose[160] = "";
	struct finding *finding;

	if (a->bursts < 3 || p99 < 1000000 || utilisation(a) >= 0.5)
		return;
	if (a->burst_func)
		snprintf(whose, sizeof(whose), ", %u of them of %.100s", a->burst_func_n,
			 label_function(a, a->burst_func).text);
	finding = finding_add(a, "burst", a->latency.max >= 5000000 && !is_late_wakeup(a) ? 0.04 : 0);
	/* A broadcast to many, by design, queues them as much as timers that happen to fire at once. */
	if (utilisation(a) < 0.1)
		finding_at_most(finding, LEVEL_INFO);
	finding_text(
		finding,
		"Up to %llu %s become runnable within 1 ms%s. The longest wait to run in the trace is %s.",
		(unsigned long long)a->burst_most, words_of(a)->many, whose, label_time(a->latency.max).text);
	finding->n = a->bursts;
	finding->p99_ns = p99;
	/* Where most were woken; the longest wait may have been at another time. */
	finding->worst_ns = a->burst_at - a->begin;
	finding_evidence(finding, "%llu times 50 and more; latency p99 %s; %s %.0f %% busy",
			 (unsigned long long)a->bursts, label_time(p99).text, words_of(a)->places,
			 100 * utilisation(a));
	finding_next(finding, "gotrace report %s --all", a->options.file);
}
