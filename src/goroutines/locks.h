/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How many goroutines wait for the same lock or channel. */
#ifndef GOTRACE_GOROUTINES_LOCKS_H
#define GOTRACE_GOROUTINES_LOCKS_H

#include "goroutines/groups.h"

/* One of the group, whose lock_kind is known, waits for it (AWAITED). 0 or -ENOMEM. */
int locks_count(struct groups *groups, struct goroutine_group *group, uint64_t awaited);
/* All have been counted. */
void locks_sort(struct groups *groups);

#endif
