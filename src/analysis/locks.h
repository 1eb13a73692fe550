/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Locks by address, from the logs of --locks. */
#ifndef GOTRACE_ANALYSIS_LOCKS_H
#define GOTRACE_ANALYSIS_LOCKS_H

#include "analysis/state.h"

/* Handles a log event of g, which may announce the lock that g is about to wait for. */
void lock_log(struct analysis *a, struct goroutine *g, const char *category, const char *message);
void lock_wait(struct analysis *a, struct goroutine *g);
/* Call before the wait of g ends. */
void lock_wake(struct analysis *a, struct goroutine *g, const struct goroutine *waker, uint32_t stack);
void lock_leave(struct analysis *a, struct goroutine *g);
/* A gap ends, in which no goroutine was known to wait. */
void locks_resume(struct analysis *a);
void locks_end(struct analysis *a);
bool lock_is_held(const struct lock *lock); /* true if its form has a holder */

#endif
