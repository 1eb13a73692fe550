/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* System calls lose their P to sysmon, and wait for one when they return. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

void rule_retake(struct analysis *a)
{
	const struct histogram *waits = &a->latency_from[FROM_SYSCALL];
	double rate = (double)waits->n / ((double)watched_ns(a) / 1e9);
	const struct analysis_host *host = &a->options.host;
	const struct row *most = &a->rows[0];
	struct finding *finding;
	uint64_t lost = 0;

	if (rate < 1000 || share_of_tasks(a, (double)waits->sum) < 0.05)
		return;
	for (size_t i = 1; i < a->nrows; i++) {
		lost += a->rows[i].lost_p;
		if (a->rows[i].lost_p && (most == &a->rows[0] || a->rows[i].lost_p > most->lost_p))
			most = &a->rows[i];
	}
	finding = finding_add(a, "retake", share_of_tasks(a, (double)waits->sum));
	finding_text(finding,
		     "%.0f system calls a second lose their P, %s in %s. They wait %s (p50) to return.", rate,
		     how_much(most->lost_p, lost), label_stack(a, most->stack).text,
		     label_time(histogram_quantile(waits, 0.5)).text);
	finding->n = waits->n;
	finding->total_ns = waits->sum;
	finding->stack = most->stack;
	/* Which thread gets a CPU decides that, not the program. */
	if (host->waited_ns > host->cpu_ns) {
		finding_at_most(finding, LEVEL_INFO);
		finding_evidence(finding,
				 "threads of the program had CPUs for %s, and were ready without one for %s",
				 label_time(host->cpu_ns).text, label_time(host->waited_ns).text);
	}
	finding_next(finding, "gotrace report %s --all", a->options.file);
}
