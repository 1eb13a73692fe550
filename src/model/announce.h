/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What each generation announces once: the number of Ps, and what was open when it began. The number of Ps, a
 * cycle of the collector and the heap's goal need a running goroutine, and wait for one.
 */
#ifndef GOTRACE_MODEL_ANNOUNCE_H
#define GOTRACE_MODEL_ANNOUNCE_H

#include "model/state.h"

/* m runs, but for announce_heap_live, which checks that. Each writes nothing unless it is due. */
void announce_procs(struct model *md, struct m *m, uint32_t stack); /* ProcsChange */
void announce_gc(struct model *md, struct m *m);                    /* GCActive, the first HeapGoal */
void announce_heap_live(struct model *md, struct m *m);             /* HeapAlloc */
void announce_assist(struct model *md, struct g *g);                /* GCMarkAssistActive; g runs */

/*
 * At a generation's start, for readers that begin here: the ranges that are open. The assist of a goroutine
 * without a thread is announced when it has one: files count time in steps of 64 ns, so that nothing but a
 * thread's own order holds it before its end.
 */
void announce_open_ranges(struct model *md);

/*
 * What had begun before the first generation did, and is seen at its end only: announces a cycle at the
 * generation's start, what belongs to a P or a goroutine right here. False if this is not the first
 * generation, or if it had not begun then.
 */
bool announce_gc_before(struct model *md);
bool announce_sweep_before(struct model *md, struct p *p);
bool announce_assist_before(struct model *md, struct g *g);

#endif
