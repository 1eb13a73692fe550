/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The CPU quota of the program's cgroup is used up, and all its threads stop until the next period. */
#include <math.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

double throttled_share(const struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;
	double throttled = (double)host->throttled_ns, watched = (double)watched_ns(a);
	double of_own = throttled / fmax(throttled + (double)host->cpu_ns, 1);

	return fmin(of_own, throttled / fmax(watched, 1));
}

void rule_throttled(struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;
	double share;
	struct finding *finding;

	if (!host->known) {
		finding_not_applicable(a, "throttled", "the trace does not record a CPU limit");
		return;
	}
	share = throttled_share(a);
	if (share < 0.05)
		return;
	finding = finding_add(a, "throttled", share);
	finding_text(finding,
		     "The CPU quota of %s CPUs was used up %llu times: threads of the program's cgroup were "
		     "throttled for %s.",
		     label_number(host->quota_cpus).text, (unsigned long long)host->throttled,
		     label_time(host->throttled_ns).text);
	finding->total_ns = host->throttled_ns;
	finding->n = host->throttled;
	finding_evidence(finding, "%s ran, or had a %s, for %s in %s; %s %u", words_of(a)->many,
			 words_of(a)->place, label_time((uint64_t)busy_ns(a)).text,
			 label_time(watched_ns(a)).text, words_of(a)->most_places, a->procs);
	finding_next(finding, "cat cpu.stat and cpu.max (version 1: cpu.cfs_quota_us) of its cgroup");
}
