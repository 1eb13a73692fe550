/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts of the rule pool-small: what a pool consists of, and who waits for it. */
#ifndef GOTRACE_ANALYSIS_RULES_POOLS_H
#define GOTRACE_ANALYSIS_RULES_POOLS_H

#include "analysis/state.h"

enum { POOL_MAX_MEMBERS = 64, POOL_MIN_WAITS = 10 };

/* How many of the group serve the queue. busy: receives the share of their watched lives in which they wait
 * neither for work nor to pass it on, 0 to 1. */
uint64_t pool_members(const struct analysis *a, const struct group *group, double *busy);
/* Another wait for the same item, in the same code by another way, takes longer: one finding is enough. */
bool pool_is_heavier_elsewhere(struct analysis *a, const struct row *row, const struct resource *res);
/* How long all rows at the place waited for the item together, ns. */
uint64_t pool_waited_at_place(struct analysis *a, const struct row *row, const struct resource *res);

/* Workers are too few. Returns false if the waits are not for workers, or are no longer than the work. */
bool pool_of_workers(struct analysis *a, const struct row *row, double impact);
/* Items are too few, or held for long: a goroutine that ends a wait gives one back for which it had waited.
 */
void pool_of_items(struct analysis *a, const struct row *row);
/* libuv's threads are too few. group: its index. */
void pool_of_uv(struct analysis *a, size_t group);

#endif
