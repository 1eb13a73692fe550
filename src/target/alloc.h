/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory in use by a live process: heap spans and goroutine stacks. */
#ifndef GOTRACE_TARGET_ALLOC_H
#define GOTRACE_TARGET_ALLOC_H

#include "target/memory.h"
#include "target/private.h"

struct areas {
	struct log_area *all;
	size_t n, capacity;
	uint64_t *spans; /* addresses of all mspans, once reading has begun */
	size_t nspans, at;
};

/* Finds where stackalloc has its results, and stores the places in *layout. Returns 0 or -ENOENT. */
int target_find_stack_places(const struct target *target, struct alloc_layout *layout);

/*
 * Reads a batch of runtime.mheap_.allspans. Returns 1 if more remain, 0 at the end, or a negative errno: a
 * read error, -ENOMEM or -EAGAIN. The result is not atomic: concurrent changes appear in the probes' records.
 */
int areas_read_spans(const struct target *target, struct memory_batch *batch, struct areas *areas);
/* Adds a goroutine's stack [lo, hi), if it has one. Returns 0 or -ENOMEM. */
int areas_add_stack(struct areas *areas, uint64_t lo, uint64_t hi);
void areas_free(struct areas *areas);

#endif
