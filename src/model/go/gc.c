/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stop-the-world, cycles of the garbage collector, sweeping, mark assists and the size of the heap. Readers
 * reject an end without a begin; a range that began before the trace is announced at the trace's start.
 */
#include "model/go/hit.h"

#include "model/announce.h"
#include "model/step.h"

void on_stw_begin(struct model *md, const struct probe_hit *hit)
{
	struct g *g = force_hit_running(md, hit);
	struct op *op;

	if (!g || md->gc.stw)
		return;
	op = emit(&md->ops, OP_STW_BEGIN, hit->m);
	op->string = reason_id(&md->reasons, REASON_STW, hit->rec->arg);
	op->stack = hit->stack;
	md->gc.stw = g;
}

void on_stw_end(struct model *md, const struct probe_hit *hit)
{
	struct g *g = force_hit_running(md, hit);

	if (!g || md->gc.stw != g)
		return; /* it began before the trace */
	step_stw_end(md, OBSERVED);
}

static void write_gc(struct model *md, struct m *m, enum op_kind kind, uint32_t stack)
{
	if (kind == OP_GC_END && (!md->gc.in_file || md->options.any_first))
		announce_gc(md, m); /* no goroutine has run to announce it */
	emit(&md->ops, kind, m)->stack = stack;
	md->gc.phase = kind == OP_GC_BEGIN ? GC_ON : GC_OFF;
	md->generation.gc_announced = md->gc.in_file = true;
}

void on_gc_begin(struct model *md, const struct probe_hit *hit)
{
	md->gc.last = hit->rec->time;
	if (!force_hit_running(md, hit))
		return;
	if (md->gc.phase == GC_ON) {
		/* The end of the previous cycle was not seen. */
		md->ops.provenance = REPAIRED;
		write_gc(md, hit->m, OP_GC_END, 0);
		md->ops.provenance = OBSERVED;
	}
	write_gc(md, hit->m, OP_GC_BEGIN, hit->stack);
}

void on_gc_end(struct model *md, const struct probe_hit *hit)
{
	md->gc.last = hit->rec->time;
	if (force_hit_running(md, hit) && (md->gc.phase == GC_ON || announce_gc_before(md)))
		write_gc(md, hit->m, OP_GC_END, 0);
}

/* Whether the thread has a running P and, if the record names a goroutine, runs that. */
static bool on_p(struct model *md, const struct probe_hit *hit)
{
	if (is_borrowing(hit->m))
		return true;
	return force_thread_of_hit(md, hit, hit->rec->g) && hit->m->p && hit->m->p->status == P_RUNNING;
}

/* The viewer counts ranges by P and ignores Ps beyond the last ProcsChange. */
static bool p_counts(struct model *md, struct m *m)
{
	if (m->g)
		announce_procs(md, m, 0);
	return m->p && md->generation.procs_announced && (uint32_t)m->p->id < md->gomaxprocs;
}

void on_heap_alloc(struct model *md, const struct probe_hit *hit)
{
	if (on_p(md, hit))
		emit(&md->ops, OP_HEAP_ALLOC, hit->m)->arg = hit->rec->arg;
}

void on_heap_goal(struct model *md, const struct probe_hit *hit)
{
	if (on_p(md, hit))
		emit(&md->ops, OP_HEAP_GOAL, hit->m)->arg = hit->rec->arg;
}

void on_sweep_begin(struct model *md, const struct probe_hit *hit)
{
	struct m *m = hit->m;

	if (!on_p(md, hit) || !p_counts(md, m))
		return;
	if (m->p->sweeps) {
		md->ops.provenance = REPAIRED;
		step_sweep_end(md, m, 0, 0);
		md->ops.provenance = OBSERVED;
	}
	emit(&md->ops, OP_GC_SWEEP_BEGIN, m)->stack = hit->stack;
	m->p->sweeps = true;
	m->p->opened_in = 0;
}

/* The record does not name the goroutine: it is the one that began the sweep. */
void on_sweep_end(struct model *md, const struct probe_hit *hit)
{
	struct m *m = hit->m;

	if (hit->rec->goid < md->ops.now)
		md->ops.now = hit->rec->goid; /* the sweep's end, if no op has been written since */
	if (m->p && m->p->status == P_RUNNING &&
	    (m->p->sweeps || (p_counts(md, m) && announce_sweep_before(md, m->p))))
		step_sweep_end(md, m, hit->rec->arg, hit->rec->arg2);
}

bool repeats_assists(const struct model *md)
{
	return md->target.go_minor <= 21;
}

void on_assist_begin(struct model *md, const struct probe_hit *hit)
{
	struct g *g = force_hit_running(md, hit);

	if (!g || !p_counts(md, hit->m))
		return;
	g->last_assist = hit->rec->time;
	if (g->assists && repeats_assists(md))
		return;
	if (g->assists) {
		md->ops.provenance = REPAIRED;
		step_assist_end(md, hit->m);
		md->ops.provenance = OBSERVED;
	}
	emit(&md->ops, OP_GC_ASSIST_BEGIN, hit->m)->stack = hit->stack;
	g->assists = true;
	g->opened_in = 0;
	g->assist_announced_in = md->generation.number;
}

void on_assist_end(struct model *md, const struct probe_hit *hit)
{
	struct g *g = force_hit_running(md, hit);

	if (!g)
		return;
	g->last_assist = hit->rec->time;
	if (!g->assists && repeats_assists(md))
		return;
	if (g->assists || (p_counts(md, hit->m) && announce_assist_before(md, g)))
		step_assist_end(md, hit->m);
}
