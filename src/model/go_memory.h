/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The heap's spans and the stacks of goroutines (--alloc). */
#ifndef GOTRACE_MODEL_GO_MEMORY_H
#define GOTRACE_MODEL_GO_MEMORY_H

#include "model/go_hit.h"

void on_memory(struct model *md, const struct probe_hit *hit);
/* Takes from the first snapshot what the early records from `from` on show to be younger. */
void memory_start(struct model *md, size_t from);
/* The ops of what is left: in the first generation, in the place of statuses. */
void memory_write_first(struct model *md);
/* After records were lost: what is new, and what is gone. */
void memory_resync(struct model *md);
void memory_free(struct memory *memory);

#endif
