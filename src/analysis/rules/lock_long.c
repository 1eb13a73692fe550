/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A lock is held long by a goroutine that computes. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/intervals.h"
#include "analysis/rules/rules.h"

enum { MIN_WAIT_NS = 1000000 };

static bool applies(const struct resource *res)
{
	const struct top *released = top_first(res->released);

	return res->waits.max >= MIN_WAIT_NS && lock_share_io(res) < 0.5 && lock_is_held_some_time(res) &&
	       released->weight * 2 >= res->charged_ns;
}

void rule_lock_long(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		struct finding *finding;
		double impact;

		if (res->parent != i || !lock_matters(a, res, &impact) || !applies(res))
			continue;
		finding = finding_add(a, "lock-long", impact);
		finding_text(finding, "%s holds a lock for %s (p99); %s waited %s for it.",
			     lock_holder(a, res).text,
			     label_time(histogram_quantile(&res->min_holds, 0.99)).text,
			     lock_waiter(a, res).text, label_time(res->waits.sum).text);
		lock_evidence(a, finding, res);
	}
}
