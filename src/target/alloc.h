/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory in use by a live process: spans of the heap, and stacks of goroutines. */
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

/* 0 or -ENOMEM. */
int areas_add(struct areas *areas, const struct log_area *area);
/*
 * Reads a batch of runtime.mheap_.allspans. Returns 1 if there are more, 0 at the end, an error of memory
 * reads, -ENOMEM or -EAGAIN. The result is not atomic: the probes' records show changes made meanwhile.
 */
int areas_read_spans(const struct target *target, struct memory_batch *batch, struct areas *areas);
/* Adds a goroutine's stack [lo, hi). Ignores a goroutine without a stack. */
int areas_add_stack(struct areas *areas, uint64_t lo, uint64_t hi);
void areas_free(struct areas *areas);

/* Parses one mspan from span_view_size bytes. False if it is not in use or not plausible. */
size_t span_view_size(const struct layout *layout);
bool span_view_read(const struct layout *layout, const uint8_t *bytes, struct log_area *area);

#endif
