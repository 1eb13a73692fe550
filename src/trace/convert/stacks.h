/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The stacks of a whole trace, each stored once. */
#ifndef GOTRACE_TRACE_CONVERT_STACKS_H
#define GOTRACE_TRACE_CONVERT_STACKS_H

#include "trace/ops/op.h"
#include "code/symbol/symbol.h"
#include "util/map64.h"

struct stack_set {
	struct stack *all; /* by id; [0] = none */
	size_t n, capacity;
	struct map64 by_hash; /* hash of the contents -> newest id */
	uint32_t *older;      /* by id: another stack with the same hash, 0 = none */
	size_t older_capacity;
	struct map64 by_pc; /* address -> index in `frames` */
	struct frame *frames;
	size_t nframes, frame_capacity;
};

int stacks_init(struct stack_set *stacks);
void stacks_free(struct stack_set *stacks);
/* Adds a stack of these frames if it is new. Sets *id to its id, 0 for n = 0. Returns 0 or -ENOMEM. */
int stacks_add(struct stack_set *stacks, const struct frame *frames, size_t n, uint32_t *id);

/*
 * Gives the frame a unique PC if its PC is already used with another function, file or line. Readers identify
 * frames by PC, and up to Go 1.10 inlined frames shared the PC of their callers. Returns 0 or -ENOMEM.
 */
int stacks_distinct(struct stack_set *stacks, struct frame *frame);

#endif
