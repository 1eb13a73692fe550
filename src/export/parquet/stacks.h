/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: identities of stacks that are equal on all hosts (docs/fleet.md). They are fixed
 * forever: lakes hold them.
 */
#ifndef GOTRACE_EXPORT_PARQUET_STACKS_H
#define GOTRACE_EXPORT_PARQUET_STACKS_H

#include "export/lake.h"
#include "export/stacktab.h"

struct lake_stack {
	int64_t hash;       /* of functions and lines */
	int64_t names;      /* of functions */
	uint32_t op, site;  /* strings of st: what it does; the innermost function of the program itself */
	uint32_t site_line; /* 0 = unknown */
	uint32_t same;      /* the first stack with this hash */
};

struct lake_stacks {
	struct stacktab st;
	struct lake_stack *all; /* by id of st */
	size_t n, capacity;
	struct map64 by_hash;
};

int lake_stacks_init(struct lake_stacks *stacks);
void lake_stacks_free(struct lake_stacks *stacks);
/*
 * Sets *ours to the first stack that has the hash of this one; 0 = none. The trace's tables may be gone, as
 * in stacktab_stack(). Returns 0 or -ENOMEM.
 */
int lake_stacks_take(struct lake_stacks *stacks, const struct tables *tables, uint32_t stack, uint32_t *ours);
/*
 * The same for frames, leaf first. If there are most of them, the last one may stand for several: the stack
 * is then one of the trace with the same others. No stack of the trace may be taken afterwards.
 */
int lake_stacks_take_frames(struct lake_stacks *stacks, const struct lake_frame *frames, uint32_t n,
			    uint32_t most, uint32_t *ours);

#endif
