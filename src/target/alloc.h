/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The memory that a live process has in use: spans of the heap, stacks of goroutines. */
#ifndef GOTRACE_TARGET_ALLOC_H
#define GOTRACE_TARGET_ALLOC_H

#include "target/memory.h"
#include "target/private.h"

struct areas {
	struct log_area *all;
	size_t n, capacity;
	uint64_t *spans; /* addresses of all mspans, once the reading has begun */
	size_t nspans, at;
};

/* 0 or -ENOMEM. */
int areas_add(struct areas *areas, const struct log_area *area);
/*
 * Reads some of runtime.mheap_.allspans: 1 if there are more, 0, or what reading memory can return, -ENOMEM,
 * -EAGAIN. Not atomic: the records of the probes tell what changed meanwhile.
 */
int areas_read_spans(const struct target *target, struct memory_batch *batch, struct areas *areas);
/* The stack of a goroutine, lowest address and end; ignored if it has none. */
int areas_add_stack(struct areas *areas, uint64_t lo, uint64_t hi);
void areas_free(struct areas *areas);

/* Parses one mspan. False if it is not in use, or cannot be one. bytes has span_view_size of them. */
size_t span_view_size(const struct layout *layout);
bool span_view_read(const struct layout *layout, const uint8_t *bytes, struct log_area *area);

#endif
