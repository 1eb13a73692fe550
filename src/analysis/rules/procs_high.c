/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* More Ps than the CPU quota allows: they use it up early in each period and stop for the rest of it. */
#include <math.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

void rule_procs_high(struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;
	double most = ceil(host->quota_cpus) > 2 ? ceil(host->quota_cpus) : 2;
	double watched = (double)watched_ns(a);
	struct finding *finding;

	if (!host->known || host->quota_cpus <= 0) {
		finding_not_applicable(a, "procs-high", "no CPU quota is known");
		return;
	}
	if (a->procs <= most || (double)host->throttled_ns < 0.05 * watched)
		return;
	finding = finding_add(a, "procs-high", (double)host->throttled_ns / watched);
	finding_text(finding, "GOMAXPROCS is %u for a quota of %.2g CPUs: the quota lasts %.0f of %.0f ms.",
		     a->procs, host->quota_cpus,
		     (double)host->quota_period / 1e6 * host->quota_cpus / a->procs,
		     (double)host->quota_period / 1e6);
	finding_next(finding, "GOMAXPROCS=%.0f, or Go 1.25, which follows the quota", most);
}
