/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A program of threads may use some of the machine's CPUs only (taskset, cpusets), and needs more. */
#include <math.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

void rule_affinity(struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;
	double allowed = host->cpus * (double)watched_ns(a), used = (double)host->cpu_ns;
	double waited = (double)host->waited_ns;
	struct finding *finding;

	/* Go follows the affinity with GOMAXPROCS: procs-low. */
	if (!is_of_threads(a) || !host->known || host->cpus >= a->procs || used < 0.85 * allowed ||
	    waited < 0.5 * used || host->machine_busy > 0.9)
		return;
	finding = finding_add(a, "affinity", fmin(waited / (waited + used), 0.19));
	finding_text(
		finding,
		"The program may use %.0f of %u CPUs, and used them for %.0f %% of the time: its threads "
		"were ready without one for %s.",
		host->cpus, a->procs, 100 * fmin(used / allowed, 1), label_time(host->waited_ns).text);
	finding->total_ns = host->waited_ns;
	finding_next(finding, "taskset -acp %s, and cpuset.cpus of its cgroup", label_pid(a).text);
}
