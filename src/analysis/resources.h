/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Locks and channels, inferred from wake-ups: which goroutine wakes which. */
#ifndef GOTRACE_ANALYSIS_RESOURCES_H
#define GOTRACE_ANALYSIS_RESOURCES_H

#include "analysis/state.h"

struct resource *resource_root(struct analysis *a, uint32_t index);
void resource_got(struct analysis *a, struct goroutine *g); /* g runs again */
/* g is not watched from here on: whether it waits for a resource or holds one is not known. */
void resource_leave(struct analysis *a, struct goroutine *g);
/* A gap ends, in which no goroutine was known to wait. */
void resources_resume(struct analysis *a);
void resources_end(struct analysis *a);
void resource_wait(struct analysis *a, struct goroutine *g);
void resource_wake(struct analysis *a, struct goroutine *g, struct goroutine *waker, uint32_t waker_stack);

#endif
