/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * More Ps than the CPU quota allows: they use it up early in each period and stop for the rest of it. Or more
 * than there are CPUs: who has a P waits for a CPU, and the Ps seem to be idle.
 */
#include <math.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

static bool of_few_cpus(struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;
	double used = (double)host->cpu_ns, waited = (double)host->waited_ns;
	struct finding *finding;

	if (!host->known || host->cpus <= 0 || a->procs < 2 * host->cpus || waited < 0.2 * used ||
	    used < 0.25 * host->cpus * (double)watched_ns(a))
		return false;
	finding = finding_add(a, "procs-high", 0);
	finding_at_most(finding, LEVEL_INFO);
	finding_text(
		finding,
		"GOMAXPROCS is %u on %.0f CPUs: threads had CPUs for %s, and were ready without one for %s. "
		"So all shares of the Ps' time in this report are too small.",
		a->procs, host->cpus, label_time(host->cpu_ns).text, label_time(host->waited_ns).text);
	finding->total_ns = host->waited_ns;
	finding_next(finding, "GOMAXPROCS=%.0f", host->cpus);
	return true;
}

void rule_procs_high(struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;
	double most = ceil(host->quota_cpus) > 2 ? ceil(host->quota_cpus) : 2;
	struct finding *finding;
	bool few;

	few = of_few_cpus(a);
	if (!host->known || host->quota_cpus <= 0) {
		if (!few)
			finding_not_applicable(a, "procs-high", "no CPU quota is known");
		return;
	}
	if (a->procs <= most || throttled_share(a) < 0.05)
		return;
	finding = finding_add(a, "procs-high", throttled_share(a));
	finding_text(finding, "GOMAXPROCS is %u for a quota of %s CPUs: the quota lasts %.0f of %.0f ms.",
		     a->procs, label_number(host->quota_cpus).text,
		     (double)host->quota_period / 1e6 * host->quota_cpus / a->procs,
		     (double)host->quota_period / 1e6);
	finding_next(finding, "GOMAXPROCS=%.0f, or Go 1.25, which follows the quota", most);
}
