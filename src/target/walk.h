/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Walks stacks of goroutines that have stopped, by frame pointers or by the function table. */
#ifndef GOTRACE_TARGET_WALK_H
#define GOTRACE_TARGET_WALK_H

#include "target/memory.h"
#include "target/private.h"
#include "target/stack.h"

struct walker {
	const struct target *target;
	struct unwinder *unwinder; /* NULL: walk by frame pointers */
	uint8_t *buffer;           /* with an unwinder: for long stacks */
};

/* Returns 0 or -ENOMEM. Call walker_free in either case. */
int walker_init(struct walker *walker, const struct target *target);
void walker_free(struct walker *walker);
/*
 * Walks the stack of the goroutine at g, leaf first. piece is memory, already read, from view->sp on. Returns
 * the number of return addresses; flags as for stack_walk().
 */
unsigned walker_walk(struct walker *walker, uint64_t g, const struct g_view *view,
		     const struct memory_piece *piece, uint64_t pcs[STACK_DEPTH], uint16_t *flags);

#endif
