/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A system call is made under a lock each time: a log line, a write to one file. */
#include "analysis/rules/rules.h"

void rule_lock_syscall(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		struct finding *finding;
		double impact;

		if (res->parent != i || !lock_matters(a, res, &impact) || impact < 0.05 ||
		    lock_share_calls(res) < 0.5 || lock_is_held_long(res))
			continue;
		finding = finding_add(a, "lock-syscall", impact);
		finding_text(finding, "%s makes a system call under a lock; others waited %s for it, in %s.",
			     lock_holder(a, res).text, label_time(res->waits.sum).text,
			     lock_waiter(a, res).text);
		lock_evidence(a, finding, res);
	}
}
