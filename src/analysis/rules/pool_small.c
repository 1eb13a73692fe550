/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A few workers, or a few connections, are all taken, and others wait for one. */
#include "analysis/figures.h"
#include "analysis/rules/pools.h"
#include "analysis/rules/rules.h"

void rule_pool_small(struct analysis *a)
{
	for (size_t i = 1; i < a->ngroups && is_of_threads(a); i++)
		pool_of_uv(a, i);
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double impact = share_of_tasks(a, (double)row->hist.sum);

		if (row->activity < ACT_COND || row->activity > ACT_SELECT || row->hist.n < POOL_MIN_WAITS ||
		    impact < 0.02)
			continue;
		if (!pool_of_workers(a, row, impact))
			pool_of_items(a, row);
	}
}
