/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stop-the-world, cycles of the garbage collector, sweeping, mark assists, the size of the heap. */
#ifndef GOTRACE_MODEL_GO_GC_H
#define GOTRACE_MODEL_GO_GC_H

#include "model/go/hit.h"

void on_stw_begin(struct model *md, const struct probe_hit *hit);
void on_stw_end(struct model *md, const struct probe_hit *hit);
void on_gc_begin(struct model *md, const struct probe_hit *hit);
void on_gc_end(struct model *md, const struct probe_hit *hit);
void on_heap_alloc(struct model *md, const struct probe_hit *hit);
void on_heap_goal(struct model *md, const struct probe_hit *hit);
void on_sweep_begin(struct model *md, const struct probe_hit *hit);
void on_sweep_end(struct model *md, const struct probe_hit *hit);
void on_assist_begin(struct model *md, const struct probe_hit *hit);
void on_assist_end(struct model *md, const struct probe_hit *hit);
/*
 * Whether assists may begin repeatedly, and end without a begin: up to Go 1.21 gcAssistAlloc remembers in a
 * local variable whether it has traced the begin.
 */
bool repeats_assists(const struct model *md);

#endif
