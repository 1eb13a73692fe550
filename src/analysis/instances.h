/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tasks, regions, labels and lifetimes, each time that they occur. */
#ifndef GOTRACE_ANALYSIS_INSTANCES_H
#define GOTRACE_ANALYSIS_INSTANCES_H

#include "analysis/state.h"

/* The goroutine's times up to now, including its current interval; and those since `then`. */
void spent_now(const struct analysis *a, const struct goroutine *g, uint64_t spent[ACT_COUNT]);
void spent_since(const struct analysis *a, const struct goroutine *g, const uint64_t then[ACT_COUNT],
		 uint64_t spent[ACT_COUNT]);
struct instances *instances_get(struct analysis *a, enum instance_kind kind, uint32_t name);
void instance_add(struct analysis *a, struct instances *all, const struct instance *one);
/* Sets one->stack and one->activity to the longest remembered wait of g since one->begin. */
void instance_longest_wait(const struct analysis *a, const struct goroutine *g, struct instance *one);
void task_begin(struct analysis *a, const struct op *op);
/* Adds the activity of g, which ends now after ns, to the task that g is in. */
void task_spend(struct analysis *a, const struct goroutine *g, uint64_t ns);
void task_end(struct analysis *a, const struct op *op);
/* Return whether the region is time for which the goroutine has no CPU because others have it. */
bool region_begin(struct analysis *a, const struct op *op);
bool region_end(struct analysis *a, const struct op *op);
/* Ends what is open, at the end of the trace. */
void instances_end(struct analysis *a);
void open_regions_drop(struct goroutine *g);

#endif
