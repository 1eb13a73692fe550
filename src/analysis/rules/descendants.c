/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process hardly does the work itself, but those that it has started: the master of nginx, the
 * postmaster, make. Looked at alone, it is a program that waits.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

void rule_descendants(struct analysis *a)
{
	const struct descendants_log *log = &a->descendants;
	double used = (double)log->used_ns, own = (double)a->options.host.cpu_ns;
	struct finding *finding;

	if (used < 0.1 * (double)watched_ns(a) || used < own)
		return;
	finding = finding_add(a, "descendants", used / p_time(a));
	finding_at_most(finding, LEVEL_INFO);
	finding->total_ns = log->used_ns;
	finding_text(finding,
		     "The program used CPUs for %s, and processes that it has started for %s. What those do "
		     "is not in "
		     "this trace.",
		     label_time(a->options.host.cpu_ns).text, label_time(log->used_ns).text);
	if (log->pid)
		finding_evidence(finding, "%u of them live%s; %s (PID %u) used most of these", log->live,
				 log->live == 1 ? "s" : "", log->name, log->pid);
	finding_next(finding, "gotrace -p %s --children%s", label_pid(a).text,
		     is_of_threads(a) ? "" : " --as c");
}
