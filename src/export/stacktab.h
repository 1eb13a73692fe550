/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Copies of a trace's strings, functions, frames and stacks, under dense ids of the export's own. Each is
 * copied when it is first used. A stacktab outlives the tables of the trace.
 */
#ifndef GOTRACE_EXPORT_STACKTAB_H
#define GOTRACE_EXPORT_STACKTAB_H

#include <stddef.h>
#include <stdint.h>

#include "trace/ops/op.h"
#include "util/map64.h"

struct st_function {
	uint32_t name, file; /* ids in strings */
};

struct st_frame {
	uint64_t pc;
	uint32_t function;
	uint32_t line;
};

struct st_stack {
	uint32_t first, n; /* in frame_ids, leaf first */
};

/* Ids begin at 1. nfunctions, nframes and nstacks are one more than the last id. */
struct stacktab {
	struct strtab *strings;
	struct st_function *functions;
	struct st_frame *frames;
	struct st_stack *stacks;
	uint32_t *frame_ids;
	size_t nfunctions, nframes, nstacks, nframe_ids;
	size_t function_capacity, frame_capacity, stack_capacity, frame_id_capacity;
	struct map64 by_function, by_frame;
	uint32_t *copied_stacks, *copied_strings; /* by id of the trace: our id; 0 = not copied yet */
	size_t copied_stack_capacity, copied_string_capacity;
};

int stacktab_init(struct stacktab *st);
void stacktab_free(struct stacktab *st);
/*
 * Sets *ours to our id of a stack; 0 for none, and for one without frames. If tables is NULL, because they
 * are gone, stacks not yet copied are 0. Returns 0 or -ENOMEM.
 */
int stacktab_stack(struct stacktab *st, const struct tables *tables, uint32_t stack, uint32_t *ours);
/* The same for a string id, with or without TEXT_ID. Our string is valid UTF-8; the empty one is 0. */
int stacktab_string(struct stacktab *st, const struct tables *tables, uint32_t string, uint32_t *ours);
/* The same for text that is not in the trace's tables. */
int stacktab_text(struct stacktab *st, const char *text, size_t len, uint32_t *ours);
/* From now on, ids of stacks and strings are those of other tables. */
void stacktab_forget(struct stacktab *st);

#endif
