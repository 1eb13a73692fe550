/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stacks of frames, each kept once for the whole trace. */
#ifndef GOTRACE_STACKS_H
#define GOTRACE_STACKS_H

#include "model/op.h"
#include "symbol/symbol.h"
#include "wire/idmap.h"

struct stacks {
	struct stack *all; /* by id; [0] = none */
	size_t n, capacity;
	struct idmap by_hash; /* hash of the contents -> the newest id */
	uint32_t *older;      /* by id: another one of the same hash, 0 = none */
	size_t older_capacity;
	struct idmap by_pc; /* address -> what is at it, in `frames` */
	struct frame *frames;
	size_t nframes, frame_capacity;
};

int stacks_init(struct stacks *stacks);
void stacks_free(struct stacks *stacks);
/* The id of these frames; 0 for none of them. 0 or -ENOMEM. */
int stacks_add(struct stacks *stacks, const struct frame *frames, size_t n, uint32_t *id);

/*
 * Gives the frame an address of its own if another function, file or line has
 * it: readers know frames by address, and up to Go 1.10 inlined ones shared
 * that of their callers. 0 or -ENOMEM.
 */
int stacks_distinct(struct stacks *stacks, struct frame *frame);

#endif
