/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* There are fewer Ps than usable CPUs, all Ps are busy, and goroutines wait for one. */
#include <stdio.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

static double delay_share(const struct analysis *a)
{
	double all = 0;

	for (unsigned i = 0; i < DELAY_COUNT; i++)
		all += a->latency_by[i];
	return all > 0 ? (a->latency_by[DELAY_NO_P] + a->latency_by[DELAY_GC]) / all : 0;
}

static double usable_cpus(const struct analysis_host *host)
{
	return host->quota_cpus > 0 && host->quota_cpus < host->cpus ? host->quota_cpus : host->cpus;
}

void rule_procs_low(struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;
	double waited = a->latency_by[DELAY_NO_P] + a->latency_by[DELAY_GC];
	bool low = host->known && a->procs <= 0.75 * usable_cpus(host);
	char all[32] = "The only P is";
	struct finding *finding;

	if (a->procs != 1)
		snprintf(all, sizeof(all), "All %u Ps are", a->procs);
	if (utilisation(a) < 0.9 || delay_share(a) < 0.5 || waited < 0.01 * p_time(a))
		return;
	finding = finding_add(a, "procs-low", low ? 0.05 + waited / p_time(a) : 0);
	if (low)
		finding_text(finding, "GOMAXPROCS is %u of %s CPUs: goroutines waited %s for a P.", a->procs,
			     label_number(usable_cpus(host)).text, label_time((uint64_t)waited).text);
	else
		finding_text(finding, "%s busy: goroutines waited %s for %s%s.", all,
			     label_time((uint64_t)waited).text, a->procs == 1 ? "it" : "one",
			     host->known ? "" : " (the trace does not say how many CPUs there are)");
	finding->total_ns = (uint64_t)waited;
	if (runs_without_cpu(a))
		finding->held_up = WAITED_FOR_CPU;
	finding_evidence(finding, "Ps %.0f %% busy; latency p50 %s, p99 %s, max %s", 100 * utilisation(a),
			 label_time(histogram_quantile(&a->latency, 0.5)).text,
			 label_time(histogram_quantile(&a->latency, 0.99)).text,
			 label_time(a->latency.max).text);
	if (low)
		finding_next(finding, "GOMAXPROCS=%.0f, if the program does not set it itself",
			     usable_cpus(host));
	else
		finding_next(finding, "gotrace flame %s", a->options.file);
}
