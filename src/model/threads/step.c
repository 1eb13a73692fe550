/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/threads/step.h"

#include "model/apply.h"
#include "model/repair.h"
#include "model/step.h"
#include "util/machine.h"

/* Shorter remainders of system calls are left out: nearly all calls return at once after their wait. */
enum { RESUME_NS = 10000 };

static enum provenance repairing(struct model *md)
{
	enum provenance before = md->ops.provenance;

	md->ops.provenance = REPAIRED;
	return before;
}

struct p *cpu_get(struct model *md, uint64_t cpu)
{
	struct p *p = p_find(&md->entities, cpu + 1);

	if (p || cpu >= MAX_CPUS)
		return p;
	if (cpu >= md->gomaxprocs) {
		md->gomaxprocs = (uint32_t)cpu + 1;
		md->generation.procs_announced = false;
	}
	return step_proc_get(md, cpu + 1, (int32_t)cpu);
}

void thread_settle_resume(struct model *md, struct thread_life *t, bool write)
{
	struct m *m = t->g->m;
	struct op *op;

	if (!t->resume)
		return;
	op = &md->ops.ops[t->resume - 1];
	t->resume = 0;
	if (!write || !m || !m->p)
		return;
	*op = (struct op){.time = op->time,
			  .kind = OP_SYSCALL_BEGIN,
			  .m = m->tid,
			  .g = t->g->index,
			  .p = m->p->id,
			  .stack = t->call_stack,
			  .inferred = true};
	md->ops.inferred++;
	apply_op(OP_SYSCALL_BEGIN, m, NULL, NULL);
	t->g->stack = t->call_stack;
}

void thread_resume_call(struct model *md, struct thread_life *t)
{
	if (!t->call || !md->threads->sees_calls)
		return;
	reserve_op(&md->ops, t->g->m);
	t->resume = md->ops.n;
}

void thread_end_call(struct model *md, struct thread_life *t)
{
	if (t->resume)
		thread_settle_resume(md, t, md->ops.now > md->ops.ops[t->resume - 1].time + RESUME_NS);
	if (t->g->status == G_SYSCALL)
		step_syscall_end(md, t->g->m);
}

void threads_set_calls(struct model *md, bool recorded)
{
	md->threads->calls_left_out = !recorded;
	if (recorded)
		return;
	md->threads->sees_calls = false;
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		struct g *g = md->entities.gs.all[i];

		if (g->status != G_DEAD && g->thread)
			thread_end_call(md, g->thread);
	}
}

void thread_off_cpu(struct model *md, struct thread_life *t)
{
	struct m *m = t->g->m;
	enum provenance before;

	if (!m)
		return;
	before = repairing(md);
	thread_end_call(md, t);
	step_go_stop(md, m, reason_unspecified(&md->reasons), 0);
	step_proc_stop(md, m);
	t->waking = (struct early_waking){0};
	md->ops.provenance = before;
}

void cpu_clear(struct model *md, struct p *p)
{
	enum provenance before = repairing(md);

	if (p->m && p->m->g && p->m->g->thread)
		thread_off_cpu(md, p->m->g->thread);
	else if (p->m && !p->m->g)
		step_proc_stop(md, p->m);
	md->ops.provenance = before;
}

void thread_enter_cpu(struct model *md, struct thread_life *t, struct p *p)
{
	struct m *m = m_get(&md->entities, (uint32_t)t->g->ptr);

	if (!m)
		return;
	step_proc_start(md, m, p);
	step_go_start(md, m, t->g);
	t->early_unblock = 0;
	t->waking = (struct early_waking){0};
}

/* A waking without a record has no waker. */
void thread_make_runnable(struct model *md, struct thread_life *t)
{
	enum provenance before = repairing(md);

	thread_off_cpu(md, t);
	if (t->g->status == G_WAITING)
		step_go_unblock(md, NULL, t->g, 0);
	md->ops.provenance = before;
}

bool thread_on_cpu(struct model *md, struct thread_life *t, struct p *p)
{
	enum provenance before;

	if (t->g->m && t->g->m->p == p)
		return true;
	before = repairing(md);
	thread_make_runnable(md, t);
	cpu_clear(md, p);
	thread_enter_cpu(md, t, p);
	md->ops.provenance = before;
	return t->g->m != NULL;
}

bool thread_on_cpu_since(struct model *md, struct thread_life *t, struct p *p, uint64_t since)
{
	const struct m *m = m_find(&md->entities, (uint32_t)t->g->ptr);
	size_t first = md->ops.n;
	uint64_t behind;

	/* If either was elsewhere for the trace, more than a start is missing. */
	if (t->g->m || p->m || since >= md->ops.now)
		return thread_on_cpu(md, t, p);
	behind = later_op(later_op(t->g->last_op, p->last_op), m ? m->last_op : 0);
	behind = op_list_last_by(&md->ops, since, behind);
	if (!thread_on_cpu(md, t, p))
		return false;
	op_list_move_up(&md->ops, first, behind, since);
	return true;
}

void thread_die(struct model *md, struct thread_life *t)
{
	struct m *m = t->g->m;

	if (!m) {
		force_dead(md, t->g);
		return;
	}
	thread_end_call(md, t);
	step_go_destroy(md, m);
	step_proc_stop(md, m);
}
