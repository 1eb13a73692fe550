/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A lock is held long by a goroutine that computes. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

enum { MIN_WAIT_NS = 1000000 };

/* What is charged to the place where the lock is mostly released, from any stack. */
static uint64_t charged_to_first(const struct analysis *a, const struct resource *res)
{
	uint32_t first = (uint32_t)top_first(res->released)->key;
	uint64_t ns = 0;

	for (unsigned i = 0; i < TOPS; i++) {
		if (stacks_share_site(a, (uint32_t)res->released[i].key, first))
			ns += res->released[i].weight;
	}
	return ns;
}

/* A single hold is a habit only if it is a good part of the trace: its thread may have lost the CPU. */
static bool is_habit(const struct analysis *a, const struct resource *res)
{
	return res->medium_n > 1 || res->min_holds.max * 20 >= watched_ns(a);
}

static bool lock_long_applies(const struct analysis *a, const struct resource *res)
{
	return is_habit(a, res) && res->given_up_ns * 5 < res->waits.sum && res->waits.max >= MIN_WAIT_NS &&
	       lock_share_io(res) < 0.5 && lock_is_held_some_time(res) &&
	       charged_to_first(a, res) * 2 >= res->charged_ns;
}

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

		if (res->parent != i || !lock_matters(a, res, &impact) || !lock_long_applies(a, res))
			continue;
		finding = finding_add(a, "lock-long", impact);
		finding_text(finding, "%s holds %s for %s (p99)%s; %s waited %s for it.",
			     lock_holder(a, res).text, lock_called(a, res, "a lock"),
			     label_time(histogram_quantile(&res->min_holds, 0.99)).text, without_cpu(res),
			     lock_waiters(a, res).text, label_time(res->waits.sum).text);
		lock_evidence(a, finding, res);
	}
}
