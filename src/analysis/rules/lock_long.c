/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A lock is held long by a goroutine that computes. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* A holder of low priority, or on a busy machine, is kept from giving it back. */
static const char *without_cpu(const struct resource *res)
{
	return res->meanwhile[ACT_RUNNABLE] * 2 > activities_ns(res->meanwhile) ? ", mostly without a CPU"
										: "";
}

void rule_lock_long(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		struct finding *finding;
		double impact;

		if (res->parent != i || !lock_matters(a, res, &impact) || !lock_is_long(a, res) ||
		    (lock_share_io(res) >= 0.25 && lock_is_across_io(res, impact)))
			continue;
		finding = finding_add(a, "lock-long", impact);
		finding_text(finding, "%s holds %s for %s (p99)%s; %s waited %s for it.",
			     lock_holder(a, res).text, lock_called(a, res, "a lock"),
			     label_time(histogram_quantile(&res->min_holds, 0.99)).text, without_cpu(res),
			     lock_waiters(a, res).text, label_time(res->waits.sum).text);
		lock_evidence(a, finding, res);
	}
}
