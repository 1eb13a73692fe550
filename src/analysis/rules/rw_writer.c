/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Readers wait behind a writer, and that writer behind one slow reader (golang/go#76808). */
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

enum { MIN_WAIT_NS = 1000000, MIN_READERS = 10 };

static bool applies(const struct resource *res)
{
	return res->readers >= MIN_READERS && res->readers_ns * 2 >= res->waits.sum && res->writers &&
	       res->writers_ns / res->writers >= MIN_WAIT_NS &&
	       (res->writers_ns * 2 >= res->readers_ns / res->most_waiting);
}

void rule_rw_writer(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		struct finding *finding;
		double impact;

		if (res->parent != i || !lock_matters(a, res, &impact) || !applies(res))
			continue;
		finding = finding_add(a, "rw-writer", impact);
		finding_text(
			finding,
			"Up to %u readers wait behind a writer that waits for a reader: %s is held up by %s.",
			res->most_waiting, lock_waiter(a, res).text, lock_holder(a, res).text);
		lock_evidence(a, finding, res);
	}
}
