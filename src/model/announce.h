/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Announcements that each generation makes once: the number of Ps, and what was open at its start. The number
 * of Ps, a GC cycle and the heap goal need a running goroutine and wait for one.
 */
#ifndef GOTRACE_MODEL_ANNOUNCE_H
#define GOTRACE_MODEL_ANNOUNCE_H

#include "model/state.h"

/* m must be running; announce_heap_live() checks that itself. Each writes its op only if it is due. */
void announce_procs(struct model *md, struct m *m, uint32_t stack); /* ProcsChange */
void announce_gc(struct model *md, struct m *m);                    /* GCActive, the first HeapGoal */
void announce_heap_live(struct model *md, struct m *m);             /* HeapAlloc */
void announce_assist(struct model *md, struct g *g);                /* GCMarkAssistActive; g runs */

/*
 * Announces the open ranges at a generation's start, for readers that begin here. The mark assist of a
 * goroutine without a thread is announced once it has one: timestamps in files have a resolution of 64 ns, so
 * only the order on one thread keeps the announcement before the end of the assist.
 */
void announce_open_ranges(struct model *md);

/*
 * Announce a range that began before the first generation and of which only the end is seen: a cycle at the
 * generation's start, a range of a P or a goroutine right here. Return false if this is not the first
 * generation, or if the range cannot have begun before it.
 */
bool announce_gc_before(struct model *md);
bool announce_sweep_before(struct model *md, struct p *p);
bool announce_assist_before(struct model *md, struct g *g);

#endif
