/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The collector: cycles, pauses, and how long it takes to stop all Ps. */

#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/tables.h"
#include "analysis/top.h"

static void cycle_begin(struct analysis *a)
{
	struct gc_figures *gc = &a->gc;

	gc->cycles++;
	gc->began = a->now;
	if (gc->heap_goal && gc->low) {
		gc->live_of_goal += (double)gc->low / (double)gc->heap_goal;
		gc->goals += (double)gc->heap_goal;
		gc->live_cycles++;
	}
}

static void cycle_end(struct analysis *a)
{
	if (a->gc.began && !a->ledger.unwatched)
		a->gc.cycles_ns += a->now - a->gc.began;
	a->gc.began = 0;
	a->gc.low = 0;
}

static void stw_begin(struct analysis *a, const struct op *op)
{
	struct gc_figures *gc = &a->gc;
	size_t len;
	const char *kind = strtab_get(a->gen->tables->strings, op->string, &len);

	integrate(a, a->now);
	if (!gc->stws++) {
		gc->stw_began = gc->last_stop = a->now;
		gc->last_stopped_g = 0;
		gc->stw_cut = a->ledger.unwatched;
		gc->stw_stack = stack_index(a, op->stack);
		gc->stw_kind = name_string(a, op->string);
	}
	gc->stw_gc = strstr(kind, "GC") || strstr(kind, "mark") || strstr(kind, "sweep");
}

static void count_stop(struct analysis *a)
{
	struct gc_figures *gc = &a->gc;
	uint64_t ns = gc->last_stop - gc->stw_began;

	if (histogram_add(&gc->stops, ns))
		a->oom = true;
	if (ns >= 1000000) {
		gc->slow_stops++;
		gc->slow_stops_ns += ns;
	}
	if (ns < gc->worst_stop || !gc->last_stopped_g)
		return;
	gc->worst_stop = ns;
	gc->worst_stop_at = gc->stw_began;
	gc->worst_stop_stack = gc->last_stopped_stack;
	gc->worst_stop_g = a->gs[gc->last_stopped_g].goid;
	gc->worst_stop_func = a->groups[a->gs[gc->last_stopped_g].group].func;
}

/* A stop that is not the collector's. */
static void count_asked(struct analysis *a)
{
	struct gc_figures *gc = &a->gc;
	uint64_t ns = a->now - gc->stw_began;

	if (histogram_add(&gc->asked, ns))
		a->oom = true;
	top_add(gc->asked_by, (uint64_t)gc->stw_stack << 32 | gc->stw_kind, ns);
	if (ns >= gc->asked.max)
		gc->asked_max_at = gc->stw_began;
}

static void stw_end(struct analysis *a)
{
	struct gc_figures *gc = &a->gc;

	integrate(a, a->now);
	if (!gc->stws)
		return;
	if (--gc->stws || gc->stw_cut)
		return;
	if (!gc->stw_gc)
		count_asked(a);
	else if (histogram_add(&gc->pauses, a->now - gc->stw_began))
		a->oom = true;
	count_stop(a);
}

void gc_proc_stopped(struct analysis *a, int32_t p)
{
	const struct proc *proc = proc_at(a, p);

	if (!a->gc.stws || !proc)
		return;
	a->gc.last_stop = a->now;
	a->gc.last_stopped_g = proc->g;
	a->gc.last_stopped_stack = proc->last_stack;
}

static void gc_note_goal(struct gc_figures *gc, uint64_t bytes)
{
	/* GOGC=off: there is no goal, also if a memory limit makes the collector run (Go
	 * src/runtime/traceruntime.go). */
	gc->is_off = !bytes;
	if (!bytes || bytes == UINT64_MAX)
		return;
	/* The one that holds when the trace begins may be that of a heap long ago. */
	if (bytes != gc->heap_goal && gc->ngoals++ == 1)
		gc->goal_min = gc->goal_max = 0;
	if (!gc->goal_min || bytes < gc->goal_min)
		gc->goal_min = bytes;
	if (bytes > gc->goal_max)
		gc->goal_max = bytes;
	gc->heap_goal = bytes;
}

void gc_step(struct analysis *a, const struct op *op)
{
	switch (op->kind) {
	case OP_GC_ACTIVE:
		/* It began before the trace, or in a gap. */
		if (!a->gc.began) {
			a->gc.cycles++;
			a->gc.began = a->now;
		}
		break;
	case OP_GC_BEGIN:
		cycle_begin(a);
		break;
	case OP_GC_END:
		cycle_end(a);
		break;
	case OP_STW_BEGIN:
		stw_begin(a, op);
		break;
	case OP_STW_END:
		stw_end(a);
		break;
	case OP_HEAP_ALLOC:
		a->gc.heap = op->arg;
		if (!a->gc.began && (!a->gc.low || op->arg < a->gc.low))
			a->gc.low = op->arg;
		if (op->arg > a->gc.heap_max)
			a->gc.heap_max = op->arg;
		break;
	case OP_HEAP_GOAL:
		gc_note_goal(&a->gc, op->arg);
		break;
	default:
		break;
	}
}

/* A cycle counts as far as it is watched; a stop counts if it is watched from its begin to its end. */
void gc_gap(struct analysis *a, bool begins)
{
	struct gc_figures *gc = &a->gc;

	if (begins && gc->began)
		gc->cycles_ns += a->now - gc->began;
	if (!begins && gc->began)
		gc->began = a->now;
	gc->stw_cut = true;
}

void gc_end(struct analysis *a)
{
	cycle_end(a);
}
