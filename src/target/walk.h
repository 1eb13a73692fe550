/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The stacks of a process's goroutines that have stopped: by frame pointers, or by the function table. */
#ifndef GOTRACE_TARGET_WALK_H
#define GOTRACE_TARGET_WALK_H

#include "target/memory.h"
#include "target/private.h"
#include "target/stack.h"

struct walker {
	const struct target *target;
	struct unwinder *unwinder; /* NULL: frame pointers are there */
	uint8_t *buffer;           /* with an unwinder: for long stacks */
};

/* 0 or -ENOMEM; walker_free either way. */
int walker_init(struct walker *walker, const struct target *target);
void walker_free(struct walker *walker);
/*
 * The return addresses of the goroutine at g, leaf first; piece is the memory from view->sp on that
 * was read already. Returns how many; flags as those of stack_walk.
 */
unsigned walker_walk(struct walker *walker, uint64_t g, const struct g_view *view,
		     const struct memory_piece *piece, uint64_t pcs[STACK_DEPTH], uint16_t *flags);

#endif
