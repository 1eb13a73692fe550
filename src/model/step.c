/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lawful ops. Each function writes one op and changes the state as a reader of
 * the trace will. The caller has made sure that the op is legal here
 * (format-v2 rules, internal/trace/order.go of Go 1.26); repair.c is for that.
 */
#include "state.h"

void drop_held_end(struct m *m)
{
	m->end.held = false;
}

void step_proc_status(struct model *md, struct p *p)
{
	struct op *op = emit(md, OP_PROC_STATUS, NULL);

	op->m = p->m ? p->m->tid : NO_M;
	op->p = p->id;
	op->status = p->status;
	p->last_op = op_number(md);
}

void step_proc_start(struct model *md, struct m *m, struct p *p)
{
	p->status = P_RUNNING;
	p->m = m;
	m->p = p;
	emit(md, OP_PROC_START, m);
}

void step_sweep_end(struct model *md, struct m *m, uint64_t swept, uint64_t reclaimed)
{
	struct op *op = emit(md, OP_GC_SWEEP_END, m);

	op->arg = swept;
	op->arg2 = reclaimed;
	m->p->sweeps = false;
}

void step_assist_end(struct model *md, struct m *m)
{
	emit(md, OP_GC_ASSIST_END, m);
	m->g->assists = m->g->assist_over = false;
}

/* Who sweeps keeps the P meanwhile: that it is let go means that the end was not seen. */
static void end_sweep_of(struct model *md, struct m *m)
{
	enum cause before = md->cause;

	if (!m->p || !m->p->sweeps)
		return;
	md->cause = md->spans ? INFERRED : REPAIRED; /* then allocations are not probed */
	step_sweep_end(md, m, 0, 0);
	md->cause = before;
}

void step_proc_stop(struct model *md, struct m *m)
{
	end_sweep_of(md, m);
	emit(md, OP_PROC_STOP, m);
	drop_held_end(m); /* without a P the call can only end by EndBlocked */
	m->p->status = P_IDLE;
	m->p->m = NULL;
	m->p = NULL;
}

void step_proc_steal(struct model *md, struct m *thief, struct p *p)
{
	struct op *op = emit(md, OP_PROC_STEAL, thief);

	op->p = p->id;
	op->m2 = p->m ? p->m->tid : p->abandoned_by ? p->abandoned_by : thief->tid;
	p->last_op = op_number(md);
	if (p->m) {
		p->m->last_op = op_number(md);
		drop_held_end(p->m);
		p->m->p = NULL;
	}
	p->m = NULL;
	p->status = P_IDLE;
}

static void start(struct model *md, struct m *m, struct g *g)
{
	g->status = G_RUNNING;
	g->left = 0;
	g->m = m;
	m->g = g;
	emit(md, OP_GO_START, m);
}

/* What must follow a start; `unseen`: the start was moved up. */
static void started(struct model *md, struct m *m, bool unseen)
{
	static const char *const labels[] = {NULL, "GC (dedicated)", "GC (fractional)", "GC (idle)"};
	uint64_t start = op_number(md);
	bool told = md->procs_told;
	uint8_t worker = m->g->worker;
	enum cause before = md->cause;

	generation_tell_procs(md, m, 0);
	generation_tell_gc(md, m);
	generation_tell_assist(md, m->g);
	if (m->g->assist_over && m->g->assists) {
		md->cause = REPAIRED;
		step_assist_end(md, m);
		md->cause = before;
	}
	m->g->worker = 0;
	/* The viewer takes no label of a P before it knows how many Ps there are. */
	if (!worker || worker >= sizeof(labels) / sizeof(labels[0]) || !md->procs_told)
		return;
	emit(md, OP_GO_LABEL, m)->string = tables_string(md, labels[worker]);
	if (unseen && told)
		move_up(md, start);
}

void step_go_start(struct model *md, struct m *m, struct g *g)
{
	start(md, m, g);
	started(md, m, false);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Measured on native traces of busy programs, the true start is some 100 ns
 * after the last of these: the end of what the thread did before, its P's
 * start, the goroutine's becoming runnable.
 */
void step_go_start_unseen(struct model *md, struct m *m, struct g *g)
{
	uint64_t behind = later(g->last_op, later(m->last_op, m->p->last_op));

	start(md, m, g);
	move_up(md, behind);
	md->totals.inferred_starts++;
	started(md, m, true);
}

static void leave(struct m *m, uint8_t status, uint32_t stack)
{
	struct g *g = m->g;

	g->status = status;
	g->m = NULL;
	if (stack)
		g->stack = stack;
	m->g = NULL;
}

/* Only a running goroutine can hold the world stopped; that it leaves means that the restart was not seen. */
static void end_ranges_of(struct model *md, struct m *m)
{
	if (md->stw == m->g)
		step_stw_end(md, REPAIRED);
	end_sweep_of(md, m);
}

void step_stw_end(struct model *md, enum cause cause)
{
	enum cause before = md->cause;

	md->cause = cause;
	emit(md, OP_STW_END, md->stw->m);
	md->stw = NULL;
	md->cause = before;
}

void step_go_stop(struct model *md, struct m *m, uint32_t reason, uint32_t stack)
{
	struct op *op;

	end_ranges_of(md, m);
	op = emit(md, OP_GO_STOP, m);

	op->string = reason;
	op->stack = stack;
	leave(m, G_RUNNABLE, stack);
}

struct op *step_go_block(struct model *md, struct m *m, uint32_t reason, uint32_t stack)
{
	struct op *op;

	end_ranges_of(md, m);
	op = emit(md, OP_GO_BLOCK, m);

	op->string = reason;
	op->stack = stack;
	leave(m, G_WAITING, stack);
	return op;
}

void step_go_destroy(struct model *md, struct m *m)
{
	struct g *g = m->g;

	end_ranges_of(md, m);
	functions_end_all(md, m);
	emit(md, OP_GO_DESTROY, m);
	leave(m, G_DEAD, 0);
	g_ended(md, g);
}

void step_go_create(struct model *md, struct m *m, struct g *g, bool blocked, uint32_t stack)
{
	struct op *op = emit(md, blocked ? OP_GO_CREATE_BLOCKED : OP_GO_CREATE, m);

	op->g2 = g->index;
	g->last_op = op_number(md);
	op->stack = stack;
	op->stack2 = g->thread ? threads_entry_stack(md, g) : tables_entry_stack(md, g->startpc);
	g->status = blocked ? G_WAITING : G_RUNNABLE;
	g->stack = op->stack2;
}

void step_go_create_syscall(struct model *md, struct m *m, struct g *g)
{
	g->status = G_SYSCALL;
	g->m = m;
	m->g = g;
	emit(md, OP_GO_CREATE_SYSCALL, m)->stack2 = g->stack;
}

void step_go_destroy_syscall(struct model *md, struct m *m)
{
	struct g *g = m->g;

	emit(md, OP_GO_DESTROY_SYSCALL, m);
	drop_held_end(m);
	if (m->p) {
		m->p->status = P_ABANDONED;
		m->p->abandoned_by = m->tid;
		m->p->m = NULL;
		m->p = NULL;
	}
	leave(m, G_DEAD, 0);
	g_ended(md, g);
}

void step_go_unblock(struct model *md, struct m *m, struct g *g, uint32_t stack)
{
	struct op *op = emit(md, OP_GO_UNBLOCK, m);

	op->g2 = g->index;
	g->last_op = op_number(md);
	op->stack = stack;
	g->left = 0;
	g->status = G_RUNNABLE;
}

void step_go_switch(struct model *md, struct m *m, struct g *next, bool destroy)
{
	struct g *self = m->g;
	struct op *op;

	end_ranges_of(md, m);
	op = emit(md, destroy ? OP_GO_SWITCH_DESTROY : OP_GO_SWITCH, m);
	op->g2 = next->index;
	next->last_op = op_number(md);
	leave(m, destroy ? G_DEAD : G_WAITING, 0);
	if (destroy)
		g_ended(md, self);
	next->status = G_RUNNING;
	next->m = m;
	m->g = next;
}

void step_syscall_begin(struct model *md, struct m *m, uint32_t stack)
{
	end_ranges_of(md, m);
	emit(md, OP_SYSCALL_BEGIN, m)->stack = stack;
	m->end = (struct call_end){0};
	m->g->status = G_SYSCALL;
	if (stack)
		m->g->stack = stack;
	m->p->status = P_SYSCALL;
}

void step_syscall_end(struct model *md, struct m *m)
{
	if (m->end.held) {
		struct op *op = &md->ops.ops[m->end.op];

		*op = (struct op){.time = op->time,
				  .kind = OP_SYSCALL_END,
				  .m = m->tid,
				  .g = m->g->index,
				  .p = m->p->id,
				  .inferred = true};
		md->totals.inferred++;
	} else {
		emit(md, OP_SYSCALL_END, m);
	}
	drop_held_end(m);
	m->g->status = G_RUNNING;
	m->p->status = P_RUNNING;
}

void step_syscall_end_blocked(struct model *md, struct m *m)
{
	emit(md, OP_SYSCALL_END_BLOCKED, m);
	drop_held_end(m);
	leave(m, G_RUNNABLE, 0);
}
