/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/announce.h"

void announce_procs(struct model *md, struct m *m, uint32_t stack)
{
	struct op *op;

	if (md->generation.procs_announced || !md->gomaxprocs || m == md->synthetic.m)
		return;
	md->generation.procs_announced = true;
	op = emit(&md->ops, OP_PROCS_CHANGE, m);
	op->arg = md->gomaxprocs;
	op->stack = stack;
}

void announce_gc(struct model *md, struct m *m)
{
	if (m == md->synthetic.m)
		return;
	if (!md->generation.gc_announced && md->gc.phase == GC_ON) {
		emit(&md->ops, OP_GC_ACTIVE, m);
		md->generation.gc_announced = md->gc.in_file = true;
	}
	if (md->gc.goal_due)
		emit(&md->ops, OP_HEAP_GOAL, m)->arg = md->gc.heap_goal;
	md->gc.goal_due = false;
}

bool announce_gc_before(struct model *md)
{
	if (md->generation.number != 1 || md->gc.in_file)
		return false;
	emit(&md->ops, OP_GC_ACTIVE, NULL);
	/* Sequence numbers order the events of a cycle, whatever thread they are on. */
	op_list_move_up(&md->ops, md->ops.n - 1, 0, 0);
	md->gc.phase = GC_ON;
	md->generation.gc_announced = md->gc.in_file = true;
	return true;
}

/* Written on the thread that has the P, so that the thread's next op cannot precede it. */
static void write_sweep_active(struct model *md, struct p *p)
{
	struct op *op = emit(&md->ops, OP_GC_SWEEP_ACTIVE, NULL);

	op->p = p->id;
	op->m = p->m ? p->m->tid : NO_M;
	p->sweeps = true;
	p->opened_in = 0;
}

bool announce_sweep_before(struct model *md, struct p *p)
{
	if (md->generation.number != 1 || p->opened_in != 1)
		return false;
	write_sweep_active(md, p);
	return true;
}

static void write_assist_active(struct model *md, struct g *g)
{
	struct op *op = emit(&md->ops, OP_GC_ASSIST_ACTIVE, NULL);

	op->g = g->index;
	op->m = g->m ? g->m->tid : NO_M;
	g->assists = true;
	g->opened_in = 0;
	g->assist_announced_in = md->generation.number;
}

bool announce_assist_before(struct model *md, struct g *g)
{
	if (md->generation.number != 1 || g->opened_in != 1)
		return false;
	write_assist_active(md, g);
	return true;
}

void announce_assist(struct model *md, struct g *g)
{
	if (g->assists && g->assist_announced_in != md->generation.number)
		write_assist_active(md, g);
}

void announce_open_ranges(struct model *md)
{
	for (unsigned i = 0; i < md->entities.nps; i++) {
		if (md->entities.ps[i]->sweeps)
			write_sweep_active(md, md->entities.ps[i]);
	}
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		if (md->entities.gs.all[i]->m)
			announce_assist(md, md->entities.gs.all[i]);
	}
}

void announce_heap_live(struct model *md, struct m *m)
{
	if (!md->gc.live_due || m == md->synthetic.m || !m->p || m->p->status != P_RUNNING)
		return;
	md->gc.live_due = false;
	emit(&md->ops, OP_HEAP_ALLOC, m)->arg = md->gc.heap_live;
}
