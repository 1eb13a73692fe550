/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Heap spans and goroutine stacks (--alloc). */
#ifndef GOTRACE_MODEL_GO_MEMORY_H
#define GOTRACE_MODEL_GO_MEMORY_H

#include "model/go/hit.h"

void on_memory(struct model *md, const struct probe_hit *hit);
/* Removes from the first snapshot the areas that the early records from `from` on show to be younger. */
void memory_start(struct model *md, size_t from);
/* Writes the ops of the remaining areas, among the statuses of the first generation. */
void memory_write_first(struct model *md);
/* After a loss, writes which areas are new and which are gone. */
void memory_resync(struct model *md);
void memory_free(struct memory *memory);

#endif
