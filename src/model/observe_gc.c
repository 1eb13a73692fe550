/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stop-the-world, cycles of the garbage collector, sweeping, mark assists and
 * the size of the heap. Readers refuse an end whose beginning they have not
 * seen; one that began before the trace did is told at the trace's start.
 */
#include "observe.h"

void on_stw_begin(struct model *md, const struct hit *hit)
{
	struct g *g = running(md, hit);
	struct op *op;

	if (!g || md->stw)
		return;
	op = emit(md, OP_STW_BEGIN, hit->m);
	op->string = tables_reason(md, REASON_STW, hit->rec->arg);
	op->stack = hit->stack;
	md->stw = g;
}

void on_stw_end(struct model *md, const struct hit *hit)
{
	struct g *g = running(md, hit);

	if (!g || md->stw != g)
		return; /* it began before the trace did */
	step_stw_end(md, SEEN);
}

static void write_gc(struct model *md, struct m *m, enum op_kind kind, uint32_t stack)
{
	if (kind == OP_GC_END && !md->gc_in_file)
		generation_tell_gc(md, m); /* nobody ran until now who could tell */
	emit(md, kind, m)->stack = stack;
	md->gc = kind == OP_GC_BEGIN ? GC_ON : GC_OFF;
	md->gc_told = md->gc_in_file = true;
}

void on_gc_begin(struct model *md, const struct hit *hit)
{
	md->last_gc = hit->rec->time;
	if (!running(md, hit))
		return;
	if (md->gc == GC_ON) {
		/* The end of the one before was not seen. */
		md->cause = REPAIRED;
		write_gc(md, hit->m, OP_GC_END, 0);
		md->cause = SEEN;
	}
	write_gc(md, hit->m, OP_GC_BEGIN, hit->stack);
}

void on_gc_end(struct model *md, const struct hit *hit)
{
	md->last_gc = hit->rec->time;
	if (running(md, hit) && (md->gc == GC_ON || generation_gc_began_before(md)))
		write_gc(md, hit->m, OP_GC_END, 0);
}

/* The thread has a P that runs, and so does the goroutine on it, if the record names one. */
static bool on_p(struct model *md, const struct hit *hit)
{
	return acting(md, hit, hit->rec->g) && hit->m->p && hit->m->p->status == P_RUNNING;
}

/* The viewer counts ranges by P, and takes no P beyond the number of them that it was told last. */
static bool p_counts(struct model *md, struct m *m)
{
	if (m->g)
		generation_tell_procs(md, m, 0);
	return m->p && md->procs_told && (uint32_t)m->p->id < md->gomaxprocs;
}

void on_heap_alloc(struct model *md, const struct hit *hit)
{
	if (on_p(md, hit))
		emit(md, OP_HEAP_ALLOC, hit->m)->arg = hit->rec->arg;
}

void on_heap_goal(struct model *md, const struct hit *hit)
{
	if (on_p(md, hit))
		emit(md, OP_HEAP_GOAL, hit->m)->arg = hit->rec->arg;
}

void on_sweep_begin(struct model *md, const struct hit *hit)
{
	struct m *m = hit->m;

	if (!on_p(md, hit) || !p_counts(md, m))
		return;
	if (m->p->sweeps) {
		md->cause = REPAIRED;
		step_sweep_end(md, m, 0, 0);
		md->cause = SEEN;
	}
	emit(md, OP_GC_SWEEP_BEGIN, m)->stack = hit->stack;
	m->p->sweeps = true;
	m->p->opened_in = 0;
}

void end_sweeps(struct model *md)
{
	for (unsigned i = 0; i < md->nps; i++) {
		struct p *p = md->ps[i];

		if (p->sweeps && p->m)
			step_sweep_end(md, p->m, 0, 0);
	}
}

void tell_heap_live(struct model *md, struct m *m)
{
	if (!md->live_due || m == md->stand_in.m || !m->p || m->p->status != P_RUNNING)
		return;
	md->live_due = false;
	emit(md, OP_HEAP_ALLOC, m)->arg = md->heap_live;
}

/* The record says nothing of the goroutine: it is the one that began. */
void on_sweep_end(struct model *md, const struct hit *hit)
{
	struct m *m = hit->m;

	if (hit->rec->goid < md->now)
		md->now = hit->rec->goid; /* if nothing has been written since */
	if (m->p && m->p->status == P_RUNNING &&
	    (m->p->sweeps || (p_counts(md, m) && generation_sweep_began_before(md, m->p))))
		step_sweep_end(md, m, hit->rec->arg, hit->rec->arg2);
}

bool repeats_assists(const struct model *md)
{
	return md->target.go_minor <= 21;
}

void on_assist_begin(struct model *md, const struct hit *hit)
{
	struct g *g = running(md, hit);

	if (!g || !p_counts(md, hit->m))
		return;
	g->last_assist = hit->rec->time;
	if (g->assists && repeats_assists(md))
		return;
	if (g->assists) {
		md->cause = REPAIRED;
		step_assist_end(md, hit->m);
		md->cause = SEEN;
	}
	emit(md, OP_GC_ASSIST_BEGIN, hit->m)->stack = hit->stack;
	g->assists = true;
	g->opened_in = 0;
	g->assist_told = md->generation;
}

void on_assist_end(struct model *md, const struct hit *hit)
{
	struct g *g = running(md, hit);

	if (!g)
		return;
	g->last_assist = hit->rec->time;
	if (!g->assists && repeats_assists(md))
		return;
	if (g->assists || (p_counts(md, hit->m) && generation_assist_began_before(md, g)))
		step_assist_end(md, hit->m);
}
