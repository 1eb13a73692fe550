/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/threads/wake.h"

#include "model/repair.h"
#include "model/step.h"
#include "model/threads/life.h"
#include "model/threads/step.h"

/* The waker gets a P, if the model has no thread on that CPU. */
static void unblock_from_outside(struct model *md, struct g *g, const struct early_waking *waking)
{
	struct m other = {.tid = waking->tid};
	const struct m *known = m_find(&md->entities, waking->tid);
	struct p *p = cpu_get(md, (uint64_t)waking->cpu);
	bool ours = known && (known->g || known->p);
	bool on_cpu = !ours && is_tid(waking->tid) && p && p->status == P_IDLE;

	if (on_cpu)
		step_proc_start(md, &other, p);
	step_go_unblock(md, on_cpu ? &other : NULL, g, waking->stack);
	if (on_cpu)
		step_proc_stop(md, &other);
}

void thread_unblock(struct model *md, struct g *g, const struct early_waking *waking)
{
	struct thread_life *waker;

	switch (waking->waker) {
	case WAKER_THREAD:
		waker = thread_find(md, waking->tid);
		step_go_unblock(md, waker ? waker->g->m : NULL, g, waking->stack);
		break;
	case WAKER_OTHER:
		unblock_from_outside(md, g, waking);
		break;
	default:
		step_go_unblock(md, NULL, g, waking->stack);
	}
}

void thread_take_back_unblock(struct model *md, struct thread_life *t)
{
	struct op *op;

	if (!t->early_unblock || t->early_generation != md->generation.number ||
	    t->g->last_op != md->ops.before + t->early_unblock)
		return;
	op = &md->ops.ops[t->early_unblock - 1];
	*op = (struct op){.time = op->time, .kind = OP_NONE, .p = NO_P};
	t->early_unblock = 0;
	t->g->status = G_WAITING;
}

/* A thread that has not reached a CPU for this long was most likely not woken: few run queues are as long. */
enum { EXPIRE_NS = 100000000 };

void thread_expire_early_unblock(struct model *md, struct thread_life *t)
{
	if (md->ops.last_time > t->g->last_hit + EXPIRE_NS)
		thread_take_back_unblock(md, t);
}

void thread_fell_asleep_unseen(struct model *md, struct thread_life *t)
{
	struct early_waking waking = t->waking;
	struct m *m = t->g->m;

	t->waking = (struct early_waking){0};
	if (m)
		thread_end_call(md, t);
	force_waiting(md, t->g, 0, 0);
	if (m)
		step_proc_stop(md, m);
	if (waking.waker)
		thread_unblock(md, t->g, &waking);
}
