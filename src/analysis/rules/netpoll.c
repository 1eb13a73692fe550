/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The Ps are too busy to poll the network: sysmon does it, every 10 ms (go PR 51651). Where they are not
 * busy, a wake-up without a P is one whose P is not in the trace.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

void rule_netpoll(struct analysis *a)
{
	struct finding *finding;

	if (a->net_wakes < 100 || a->net_wakes_sysmon * 2 < a->net_wakes || utilisation(a) <= 0.8)
		return;
	finding = finding_add(a, "netpoll", 0); /* of any program at full load */
	finding_text(finding,
		     "%llu of %llu network waits were ended by sysmon, which polls every 10 ms: the Ps are "
		     "too busy.",
		     (unsigned long long)a->net_wakes_sysmon, (unsigned long long)a->net_wakes);
	finding->n = a->net_wakes_sysmon;
	finding_next(finding, "gotrace report %s --all", a->options.file);
}
