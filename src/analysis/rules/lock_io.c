/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A lock is held across reads, writes or sleeps: all others wait for the outside world, too. */
#include "analysis/rules/rules.h"

enum { MIN_WAIT_NS = 1000000 };

static const char *across(const struct resource *res)
{
	const uint64_t *did = res->meanwhile;

	if (did[ACT_NETWORK] >= did[ACT_SYSCALL] && did[ACT_NETWORK] >= did[ACT_SLEEP] &&
	    did[ACT_NETWORK] >= did[ACT_DISK])
		return "network I/O";
	if (did[ACT_DISK] >= did[ACT_SYSCALL] && did[ACT_DISK] >= did[ACT_SLEEP])
		return "disk I/O";
	return did[ACT_SLEEP] >= did[ACT_SYSCALL] ? "a sleep" : "system calls";
}

static bool applies(const struct resource *res)
{
	/* Short calls are lock-syscall's. */
	return res->waits.max >= MIN_WAIT_NS && lock_share_io(res) >= 0.5 && lock_is_held_long(res);
}

void rule_lock_io(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		struct finding *finding;
		double impact;

		if (res->parent != i || !lock_matters(a, res, &impact) || !applies(res))
			continue;
		finding = finding_add(a, "lock-io", impact);
		finding_text(finding, "%s waited %s for %s, which holds the lock across %s.",
			     lock_waiter(a, res).text, label_time(res->waits.sum).text,
			     lock_holder(a, res).text, across(res));
		lock_evidence(a, finding, res);
	}
}
