/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/step.h"

#include "model/announce.h"
#include "model/apply.h"

void release_reserved_end(struct m *m)
{
	m->end.reserved = false;
}

/* Whether m takes an object by this op: the op already shows it as m's. */
static bool takes(enum op_kind kind)
{
	return kind == OP_PROC_START || kind == OP_GO_START || kind == OP_GO_CREATE_SYSCALL;
}

/* Inlined because the kind is a constant at each call. */
#define INLINED static inline __attribute__((always_inline))

/* Writes an op of m and applies it. other: the goroutine that it names; p: the P that it takes. */
INLINED struct op *step(struct model *md, enum op_kind kind, struct m *m, struct g *other, struct p *p)
{
	struct op *op;

	if (takes(kind)) {
		apply_op(kind, m, other, p);
		return emit(&md->ops, kind, m);
	}
	op = emit(&md->ops, kind, m);
	if (other) {
		op->g2 = other->index;
		other->last_op = op_number(&md->ops);
	}
	apply_op(kind, m, other, p);
	return op;
}

/* The same for an op about m's own goroutine. */
INLINED struct op *step_self(struct model *md, enum op_kind kind, struct m *m)
{
	return step(md, kind, m, NULL, NULL);
}

void step_proc_status(struct model *md, struct p *p)
{
	struct op *op = emit(&md->ops, OP_PROC_STATUS, NULL);

	op->m = p->m ? p->m->tid : NO_M;
	op->p = p->id;
	op->status = p->status;
	p->last_op = op_number(&md->ops);
}

struct p *step_proc_get(struct model *md, uint64_t ptr, int32_t id)
{
	struct p *p = p_find(&md->entities, ptr);

	if (p)
		return p;
	p = p_by_id(&md->entities, id);
	if (p && p == md->synthetic.p)
		md->synthetic.p = NULL; /* it takes another one when needed */
	if (!p) {
		p = p_add(&md->entities, id);
		if (p && md->generation.number)
			step_proc_status(md, p);
	}
	if (p && ptr)
		p_set_ptr(&md->entities, p, ptr);
	return p;
}

void step_proc_start(struct model *md, struct m *m, struct p *p)
{
	step(md, OP_PROC_START, m, NULL, p);
}

void step_sweep_end(struct model *md, struct m *m, uint64_t swept, uint64_t reclaimed)
{
	struct op *op = emit(&md->ops, OP_GC_SWEEP_END, m);

	op->arg = swept;
	op->arg2 = reclaimed;
	m->p->sweeps = false;
}

void step_assist_end(struct model *md, struct m *m)
{
	emit(&md->ops, OP_GC_ASSIST_END, m);
	m->g->assists = m->g->assist_over = false;
}

/* A goroutine that sweeps keeps its P. If the P is dropped, the end of the sweep was not seen. */
static void end_sweep_of(struct model *md, struct m *m)
{
	enum provenance before;

	if (!m->p || !m->p->sweeps)
		return;
	/* If only starts are probed, allocations are not. */
	before = set_provenance(&md->ops, md->starts_only ? INFERRED : REPAIRED);
	step_sweep_end(md, m, 0, 0);
	md->ops.provenance = before;
}

void step_proc_stop(struct model *md, struct m *m)
{
	end_sweep_of(md, m);
	step_self(md, OP_PROC_STOP, m);
	release_reserved_end(m); /* without a P, the call can only end as blocked */
}

void step_proc_steal(struct model *md, struct m *thief, struct p *p)
{
	struct op *op = emit(&md->ops, OP_PROC_STEAL, thief);

	op->p = p->id;
	op->m2 = p->m ? p->m->tid : p->abandoned_by ? p->abandoned_by : thief->tid;
	p->last_op = op_number(&md->ops);
	if (p->m) {
		p->m->last_op = op_number(&md->ops);
		release_reserved_end(p->m);
	}
	apply_op(OP_PROC_STEAL, thief, NULL, p);
}

void step_end_sweeps(struct model *md)
{
	for (unsigned i = 0; i < md->entities.nps; i++) {
		struct p *p = md->entities.ps[i];

		if (p->sweeps && p->m)
			step_sweep_end(md, p->m, 0, 0);
	}
}

static void model_step_start(struct model *md, struct m *m, struct g *g)
{
	g->left = 0;
	step(md, OP_GO_START, m, g, NULL);
}

/* m's goroutine runs, so an assist that ended unobserved can be ended now. */
static void end_assist_over(struct model *md, struct m *m)
{
	enum provenance before;

	if (!m->g->assist_over || !m->g->assists)
		return;
	before = set_provenance(&md->ops, REPAIRED);
	step_assist_end(md, m);
	md->ops.provenance = before;
}

/* Writes what must follow a start. unseen: the start was moved up. */
static void started(struct model *md, struct m *m, bool unseen)
{
	static const char *const labels[] = {NULL, "GC (dedicated)", "GC (fractional)", "GC (idle)"};
	uint64_t start = op_number(&md->ops);
	bool announced = md->generation.procs_announced;
	uint8_t worker = m->g->worker;

	announce_procs(md, m, 0);
	announce_gc(md, m);
	announce_assist(md, m->g);
	end_assist_over(md, m);
	annotators_op(&md->annotators, OP_GO_START, m);
	m->g->worker = 0;
	/* The viewer ignores labels until it knows the number of Ps. */
	if (!worker || worker >= sizeof(labels) / sizeof(labels[0]) || !md->generation.procs_announced)
		return;
	emit(&md->ops, OP_GO_LABEL, m)->string = string_id(md, labels[worker]);
	if (unseen && announced)
		op_list_move_up(&md->ops, md->ops.n - 1, start, 0);
}

void step_go_start(struct model *md, struct m *m, struct g *g)
{
	model_step_start(md, m, g);
	started(md, m, false);
}

/*
 * Measured on native traces of busy programs, the true start is some 100 ns after the last of these: the end
 * of the thread's previous activity, the start of its P, the goroutine becoming runnable.
 */
void step_go_start_unseen(struct model *md, struct m *m, struct g *g)
{
	uint64_t behind = later_op(g->last_op, later_op(m->last_op, m->p->last_op));

	model_step_start(md, m, g);
	op_list_move_up(&md->ops, md->ops.n - 1, behind, 0);
	md->totals.inferred_starts++;
	started(md, m, true);
}

/* Only a running goroutine keeps the world stopped. If it leaves, the restart was not seen. */
static void end_ranges_of(struct model *md, struct m *m)
{
	if (md->gc.stw == m->g)
		step_stw_end(md, REPAIRED);
	end_sweep_of(md, m);
}

void step_stw_end(struct model *md, enum provenance provenance)
{
	enum provenance before = set_provenance(&md->ops, provenance);

	emit(&md->ops, OP_STW_END, md->gc.stw->m);
	md->gc.stw = NULL;
	md->ops.provenance = before;
}

/* m's goroutine leaves m or enters a system call. */
static struct op *step_leave(struct model *md, enum op_kind kind, struct m *m, uint32_t stack)
{
	struct g *g = m->g;
	struct op *op;

	end_ranges_of(md, m);
	op = step_self(md, kind, m);
	m->left_by = g->ptr;
	op->stack = stack;
	if (stack)
		g->stack = stack;
	return op;
}

void step_go_stop(struct model *md, struct m *m, uint32_t reason, uint32_t stack)
{
	step_leave(md, OP_GO_STOP, m, stack)->string = reason;
}

struct op *step_go_block(struct model *md, struct m *m, uint32_t reason, uint32_t stack)
{
	struct op *op = step_leave(md, OP_GO_BLOCK, m, stack);

	op->string = reason;
	return op;
}

static void keep_open(struct model *md, struct g *g)
{
	g->left = md->ops.n;
	g->left_generation = md->generation.number;
}

void step_go_leave_unseen(struct model *md, struct m *m)
{
	struct g *g = m->g;

	step_go_block(md, m, reason_unspecified(&md->reasons), 0);
	keep_open(md, g);
}

void step_go_stop_unseen(struct model *md, struct m *m)
{
	struct g *g = m->g;

	step_go_stop(md, m, reason_unspecified(&md->reasons), 0);
	keep_open(md, g);
}

static void model_step_end_life(struct model *md, struct g *g)
{
	g_end(&md->entities, g);
	md->front->end_life(md, g);
}

/* A goroutine does not end within a mark assist: if one is open, its end was not seen. */
static void end_assist_of(struct model *md, struct m *m)
{
	enum provenance before;

	if (!m->g->assists)
		return;
	before = set_provenance(&md->ops, REPAIRED);
	step_assist_end(md, m);
	md->ops.provenance = before;
}

/* Ends all that the goroutine of m has open. */
static void end_open(struct model *md, struct m *m)
{
	end_assist_of(md, m);
	annotators_op(&md->annotators, OP_GO_DESTROY, m);
}

void step_go_destroy(struct model *md, struct m *m)
{
	struct g *g = m->g;

	end_ranges_of(md, m);
	end_open(md, m);
	step_self(md, OP_GO_DESTROY, m);
	m->left_by = g->ptr;
	model_step_end_life(md, g);
}

void step_go_create(struct model *md, struct m *m, struct g *g, bool blocked, uint32_t stack)
{
	struct op *op = step(md, blocked ? OP_GO_CREATE_BLOCKED : OP_GO_CREATE, m, g, NULL);

	op->stack = stack;
	op->stack2 = md->front->entry_stack(md, g);
	g->stack = op->stack2;
}

void step_go_create_syscall(struct model *md, struct m *m, struct g *g)
{
	step(md, OP_GO_CREATE_SYSCALL, m, g, NULL)->stack2 = g->stack;
}

void step_go_destroy_syscall(struct model *md, struct m *m)
{
	struct g *g = m->g;

	if (m->p)
		m->p->abandoned_by = m->tid;
	step_self(md, OP_GO_DESTROY_SYSCALL, m);
	release_reserved_end(m);
	model_step_end_life(md, g);
}

void step_go_unblock(struct model *md, struct m *m, struct g *g, uint32_t stack)
{
	step(md, OP_GO_UNBLOCK, m, g, NULL)->stack = stack;
	g->left = 0;
}

void step_go_switch(struct model *md, struct m *m, struct g *next, bool destroy)
{
	struct g *self = m->g;

	end_ranges_of(md, m);
	if (destroy)
		end_open(md, m);
	step(md, destroy ? OP_GO_SWITCH_DESTROY : OP_GO_SWITCH, m, next, NULL);
	if (destroy)
		model_step_end_life(md, self);
}

void step_syscall_begin(struct model *md, struct m *m, uint32_t stack)
{
	step_leave(md, OP_SYSCALL_BEGIN, m, stack);
	m->end = (struct call_end){0};
}

/* Writes the op in the place that was reserved for it. */
static void fill_reserved_end(struct model *md, struct m *m)
{
	struct op *op = &md->ops.ops[m->end.op];

	*op = (struct op){.time = op->time,
			  .kind = OP_SYSCALL_END,
			  .m = m->tid,
			  .g = m->g->index,
			  .p = m->p->id,
			  .inferred = true};
	md->ops.inferred++;
	apply_op(OP_SYSCALL_END, m, NULL, NULL);
}

void step_syscall_end(struct model *md, struct m *m)
{
	if (m->end.reserved)
		fill_reserved_end(md, m);
	else
		step_self(md, OP_SYSCALL_END, m);
	release_reserved_end(m);
	end_assist_over(md, m);
}

void step_syscall_end_blocked(struct model *md, struct m *m)
{
	step_self(md, OP_SYSCALL_END_BLOCKED, m);
	release_reserved_end(m);
}
