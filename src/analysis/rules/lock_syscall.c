/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Most holds of a lock make a system call that does no I/O. Calls that do I/O are lock-io. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

void rule_lock_syscall(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		struct finding *finding;
		double impact;

		if (res->parent != i || !lock_matters(a, res, &impact) || !lock_is_for_calls(res, impact) ||
		    lock_is_for_io(res) || lock_is_held_long(res))
			continue;
		finding = finding_add(a, "lock-syscall", impact);
		finding_text(finding, "%s makes a system call under %s; %s waited %s for it.",
			     lock_holder(a, res).text, lock_called(a, res, "a lock"),
			     lock_waiters(a, res).text, label_time(res->waits.sum).text);
		lock_evidence(a, finding, res);
	}
}
