/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Cycles of the garbage collector, and stop-the-worlds. */
#ifndef GOTRACE_ANALYSIS_GC_H
#define GOTRACE_ANALYSIS_GC_H

#include "analysis/state.h"

void gc_step(struct analysis *a, const struct op *op);
void gc_proc_stopped(struct analysis *a, int32_t p);
void gc_gap(struct analysis *a, bool begins);
void gc_end(struct analysis *a);

#endif
