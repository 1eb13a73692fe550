/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counts the goroutines that wait for the same lock or channel. */
#ifndef GOTRACE_ANALYSIS_GOROUTINES_LOCKS_H
#define GOTRACE_ANALYSIS_GOROUTINES_LOCKS_H

#include "analysis/goroutines/groups.h"

/* Counts one goroutine of the group that waits for it (AWAITED). lock_kind must be set. 0 or -ENOMEM. */
int locks_count(struct groups *groups, struct goroutine_group *group, uint64_t awaited);
/* Call this when all have been counted. */
void locks_sort(struct groups *groups);

#endif
