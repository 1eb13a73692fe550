/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Generations: stretches of about a second that stand alone in the file. Each
 * begins with the status of everything alive, as the one before left it.
 */
#include <string.h>

#include "state.h"

/* The statuses of a generation all bear its start time. */
static void date_back(struct model *md, struct op *op)
{
	op->time = md->generation_start;
	md->last_time = md->generation_start;
}

static void write_g_status(struct model *md, struct g *g)
{
	struct op *op = emit(md, OP_GO_STATUS, NULL);

	op->g = g->index;
	op->m = g->m ? g->m->tid : NO_M;
	op->status = g->status;
	op->stack = g->stack;
	if (md->generation == 1) /* formats that have no statuses create it */
		op->stack2 = tables_entry_stack(md, g->startpc);
	if (g->thread)
		threads_tell_status(md, g, op);
	date_back(md, op);
	g->opened_in = md->generation;
}

/* Those that hold a P first: a reader must know who runs where before anything else of that thread. */
static void write_statuses(struct model *md)
{
	for (unsigned i = 0; i < md->nps; i++) {
		step_proc_status(md, md->ps[i]);
		date_back(md, &md->ops.ops[md->ops.n - 1]);
		md->ps[i]->opened_in = md->generation;
	}
	for (uint32_t i = 1; i < md->gs.n; i++) {
		if (md->gs.all[i]->status != G_DEAD)
			write_g_status(md, md->gs.all[i]);
	}
}

/* What the snapshot has of memory stands for statuses. */
static void write_areas(struct model *md)
{
	size_t from = md->ops.n;

	memory_tell_start(md);
	for (size_t i = from; i < md->ops.n; i++)
		date_back(md, &md->ops.ops[i]);
}

static void carry_held_ends(struct model *md)
{
	for (unsigned i = 0; i < md->nms; i++) {
		if (md->ms[i]->end.held)
			md->ms[i]->end.op = hold_place(md, md->ms[i]);
		md->ms[i]->end.unseen_begin = 0;
	}
}

void generation_tell_procs(struct model *md, struct m *m, uint32_t stack)
{
	struct op *op;

	if (md->procs_told || !md->gomaxprocs || m == md->stand_in.m)
		return;
	md->procs_told = true;
	op = emit(md, OP_PROCS_CHANGE, m);
	op->arg = md->gomaxprocs;
	op->stack = stack;
}

void generation_tell_gc(struct model *md, struct m *m)
{
	if (m == md->stand_in.m)
		return;
	if (!md->gc_told && md->gc == GC_ON) {
		emit(md, OP_GC_ACTIVE, m);
		md->gc_told = md->gc_in_file = true;
	}
	if (md->goal_due)
		emit(md, OP_HEAP_GOAL, m)->arg = md->heap_goal;
	md->goal_due = false;
}

bool generation_gc_began_before(struct model *md)
{
	if (md->generation != 1 || md->gc_in_file)
		return false;
	emit(md, OP_GC_ACTIVE, NULL);
	move_up(md, 0); /* the numbers of a cycle's events order them, whatever thread they are on */
	md->gc = GC_ON;
	md->gc_told = md->gc_in_file = true;
	return true;
}

/* On the thread that has the P: what it does next must not come before. */
static void write_sweep_active(struct model *md, struct p *p)
{
	struct op *op = emit(md, OP_GC_SWEEP_ACTIVE, NULL);

	op->p = p->id;
	op->m = p->m ? p->m->tid : NO_M;
	p->sweeps = true;
	p->opened_in = 0;
}

bool generation_sweep_began_before(struct model *md, struct p *p)
{
	if (md->generation != 1 || p->opened_in != 1)
		return false;
	write_sweep_active(md, p);
	return true;
}

static void write_assist_active(struct model *md, struct g *g)
{
	struct op *op = emit(md, OP_GC_ASSIST_ACTIVE, NULL);

	op->g = g->index;
	op->m = g->m ? g->m->tid : NO_M;
	g->assists = true;
	g->opened_in = 0;
	g->assist_told = md->generation;
}

bool generation_assist_began_before(struct model *md, struct g *g)
{
	if (md->generation != 1 || g->opened_in != 1)
		return false;
	write_assist_active(md, g);
	return true;
}

void generation_tell_assist(struct model *md, struct g *g)
{
	if (g->assists && g->assist_told != md->generation)
		write_assist_active(md, g);
}

/*
 * Ranges that are open: readers that begin here shall know. The assist of a
 * goroutine without a thread is told when it has one: files count time in
 * steps of 64 ns, so nothing but a thread's own order holds it before its end.
 */
static void write_active(struct model *md)
{
	for (unsigned i = 0; i < md->nps; i++) {
		if (md->ps[i]->sweeps)
			write_sweep_active(md, md->ps[i]);
	}
	for (uint32_t i = 1; i < md->gs.n; i++) {
		if (md->gs.all[i]->m)
			generation_tell_assist(md, md->gs.all[i]);
	}
}

/* No thread has run that could have told: later than in a file's first generation that takes one. */
static void tell_gc_left(struct model *md)
{
	if (md->gc != GC_ON || generation_gc_began_before(md) || md->gc_told)
		return;
	emit(md, OP_GC_ACTIVE, stand_in_begin(md));
	stand_in_end(md);
	md->gc_told = md->gc_in_file = true;
}

/* After the file's first generation readers take no range that they have not been told of. */
static void write_active_left(struct model *md)
{
	if (md->generation != 1 && !md->options.any_first)
		return;
	if (md->options.any_first)
		tell_gc_left(md);
	else if (md->gc == GC_ON)
		generation_gc_began_before(md);
	for (uint32_t i = 1; i < md->gs.n; i++) {
		if (md->gs.all[i]->status != G_DEAD)
			generation_tell_assist(md, md->gs.all[i]);
	}
}

/* What follows is later in every format: statuses and open ranges have no sequence numbers. */
static void let_time_pass(struct model *md)
{
	md->last_time += OP_UNIT_NS - 1;
}

void generation_open(struct model *md)
{
	enum cause before = md->cause;

	md->cause = SEEN;
	md->generation++;
	md->ops.before += md->ops.n;
	md->ops.n = 0;
	md->procs_told = md->gc_told = false;
	md->last_time++;
	md->generation_start = md->last_time;
	write_statuses(md);
	if (md->generation == 1)
		write_areas(md);
	md->ops.statuses = md->ops.n;
	let_time_pass(md);
	carry_held_ends(md);
	for (unsigned i = 0; i < md->nms; i++) {
		struct m *m = md->ms[i];

		if (m->g && m->g->status == G_RUNNING) {
			generation_tell_procs(md, m, 0);
			generation_tell_gc(md, m);
		}
	}
	write_active(md);
	let_time_pass(md);
	md->cause = before;
}

/*
 * Up to Go 1.23 a goroutine gets its id after the probe on its creation, and
 * the next record about it brings it. One that has had none by the end of the
 * generation keeps a made-up id for its life.
 */
static void number(struct model *md, uint32_t g)
{
	if (g && !md->gs.goids[g])
		md->gs.goids[g] = STAND_IN_GOID + 1 + md->totals.unnumbered++;
}

static void number_the_nameless(struct model *md)
{
	for (size_t i = 0; i < md->ops.n; i++) {
		number(md, md->ops.ops[i].g);
		number(md, md->ops.ops[i].g2);
	}
	for (unsigned i = 0; i < md->nps; i++)
		md->ps[i]->nameless = 0;
}

static void to_moment(const struct model *md, struct generation *gen)
{
	int64_t ns = (int64_t)md->clock.wall_nsec + (int64_t)(gen->start - md->clock.mono_ns);
	int64_t sec = (int64_t)md->clock.wall_sec + ns / 1000000000;

	ns %= 1000000000;
	if (ns < 0) {
		ns += 1000000000;
		sec--;
	}
	gen->mono_ns = gen->start;
	gen->wall_sec = (uint64_t)sec;
	gen->wall_nsec = (uint32_t)ns;
}

static void fill_tables(struct model *md)
{
	md->tables = (struct tables){
		.strings = md->options.strings,
		.texts = md->annotations.texts,
		.goids = md->gs.goids,
		.ngoroutines = md->gs.n,
		.stacks = md->stacks.stacks,
		.nstacks = md->stacks.n,
		.heap_base = md->memory.base,
	};
}

void generation_close(struct model *md, bool last)
{
	struct generation gen = {
		.number = md->generation,
		.last = last,
		.start = md->generation_start,
		.tables = &md->tables,
	};

	if (!md->generation)
		return;
	if (md->stw)
		step_stw_end(md, REPAIRED);
	write_active_left(md);
	if (md->threads)
		threads_close(md, last);
	weave(md);
	if (md->options.watch) {
		number_the_nameless(md);
		notes_watch(md);
	}
	sample_flush(md);
	gen.end = md->last_time;
	gen.nops = md->ops.n;
	gen.ops = md->ops.ops;
	md->boundary_due = false;
	number_the_nameless(md);
	fill_tables(md);
	to_moment(md, &gen);
	if (stats_add(md->stats, md, &gen))
		md->oom = true;
	md->totals.generations++;
	md->totals.end_ns = md->last_time;
	if (!md->sink_error && !md->oom)
		md->sink_error = md->options.sink(md->options.ctx, &gen);
	g_recycle(md);
	annotations_recycle(md);
	tables_renew(md);
	tables_sweep_names(md);
	forget_threads(md);
}

/*
 * A goroutine whose start has no record runs since before the boundary: nothing
 * has come from it or its thread. If the thread's last record is the one by
 * which it left, its status may just not have been changed yet.
 */
static void find_running(struct model *md, struct m *m, const struct log_m *seen, uint64_t time_before)
{
	struct g *g = g_find(md, seen->curg);

	if (seen->status == 2 /* _Grunning */ && g && g->status == G_RUNNABLE && !m->g &&
	    m->last_hit < time_before && g->last_hit < time_before && m->last_hit != g->last_hit && m->p &&
	    m->p->ptr == seen->p)
		make_running(md, m, g, m->p);
}

/* Did the thread's system call end with its P kept? Its memory says what no record has said yet. */
static void settle(struct model *md, struct m *m, const struct log_m *seen, uint64_t time_before)
{
	if (!m->end.held || m->end.time >= time_before)
		return;
	if (seen->status == 2 /* _Grunning */ && seen->p && m->p && m->p->ptr == seen->p)
		step_syscall_end(md, m);
	else if (seen->status == 3 /* _Gsyscall: between two kernel calls of one Go call */)
		drop_held_end(m);
}

/* A boundary comes each second or so; a log that says it was silent for an hour has a wrong clock in it. */
#define MAX_SILENCE_NS (3600 * 1000000000ull)

void generation_boundary(struct model *md, const struct log_boundary *boundary, const struct log_m *ms)
{
	if (!md->generation)
		return;
	for (uint32_t i = 0; i < boundary->nm; i++) {
		uint32_t *index = ms[i].tid ? map64_get(&md->m_by_tid, ms[i].tid) : NULL;

		struct m *m = index ? md->ms[*index] : NULL;

		if (m && m->g && m->g->ptr == ms[i].curg)
			settle(md, m, &ms[i], boundary->time_before);
		else if (m && ms[i].curg)
			find_running(md, m, &ms[i], boundary->time_before);
	}
	/* Kinds of stop-the-world are told apart by string id, which dies with the generation: wait, but
	 * once. */
	if (md->stw && !md->boundary_due) {
		md->boundary_due = true;
		return;
	}
	generation_close(md, false);
	/* All before is in the log: the next one begins when the Ms were read, however little happened. */
	if (boundary->time_before > md->last_time && boundary->time_before - md->last_time < MAX_SILENCE_NS)
		md->last_time = boundary->time_before;
	generation_open(md);
}
