/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/generation.h"

#include "model/announce.h"
#include "model/gap.h"
#include "model/own_log.h"
#include "model/stats.h"
#include "model/step.h"
#include "model/synthetic.h"

/* All statuses of a generation have its start time. */
static void date_back(struct model *md, struct op *op)
{
	op->time = md->generation.start;
	md->ops.last_time = md->generation.start;
}

static void write_g_status(struct model *md, struct g *g)
{
	struct op *op = emit(&md->ops, OP_GO_STATUS, NULL);

	op->g = g->index;
	op->m = g->m ? g->m->tid : NO_M;
	op->status = g->status;
	op->stack = g->stack;
	md->front->describe_status(md, g, op);
	date_back(md, op);
	g->opened_in = md->generation.number;
}

/* Ps come first: a reader must know a thread's P before any other event of the thread. */
static void write_statuses(struct model *md)
{
	for (unsigned i = 0; i < md->entities.nps; i++) {
		step_proc_status(md, md->entities.ps[i]);
		date_back(md, &md->ops.ops[md->ops.n - 1]);
		md->entities.ps[i]->opened_in = md->generation.number;
	}
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		if (md->entities.gs.all[i]->status != G_DEAD)
			write_g_status(md, md->entities.gs.all[i]);
	}
}

/* Objects other than goroutines and Ps are written among the statuses. */
static void write_first(struct model *md)
{
	size_t from = md->ops.n;

	md->front->write_first(md);
	for (size_t i = from; i < md->ops.n; i++)
		date_back(md, &md->ops.ops[i]);
}

static void carry_reserved_ends(struct model *md)
{
	for (unsigned i = 0; i < md->entities.nms; i++) {
		if (md->entities.ms[i]->end.reserved)
			md->entities.ms[i]->end.op = reserve_op(&md->ops, md->entities.ms[i]);
		md->entities.ms[i]->end.unseen_begin = 0;
	}
}

/* Makes the next op later in every format: statuses and open ranges have no sequence numbers. */
static void let_time_pass(struct model *md)
{
	md->ops.last_time += OP_UNIT_NS - 1;
}

void generation_open(struct model *md)
{
	enum provenance before = md->ops.provenance;

	md->ops.provenance = OBSERVED;
	md->generation.number++;
	op_list_next_generation(&md->ops);
	md->generation.procs_announced = md->generation.gc_announced = false;
	md->ops.last_time++;
	md->generation.start = md->ops.last_time;
	write_statuses(md);
	if (md->generation.number == 1)
		write_first(md);
	md->ops.statuses = md->ops.n;
	let_time_pass(md);
	carry_reserved_ends(md);
	for (unsigned i = 0; i < md->entities.nms; i++) {
		struct m *m = md->entities.ms[i];

		if (m->g && m->g->status == G_RUNNING) {
			announce_procs(md, m, 0);
			announce_gc(md, m);
			annotators_op(&md->annotators, OP_GO_START, m);
		}
	}
	announce_open_ranges(md);
	gap_note_again(md);
	let_time_pass(md);
	md->ops.provenance = before;
}

/* No thread has run to announce the cycle. After a file's first generation, the event needs a thread. */
static void announce_gc_left(struct model *md)
{
	if (md->gc.phase != GC_ON || announce_gc_before(md) || md->generation.gc_announced)
		return;
	emit(&md->ops, OP_GC_ACTIVE, synthetic_begin(md));
	synthetic_end(md);
	md->generation.gc_announced = md->gc.in_file = true;
}

/* After a file's first generation, readers accept only ranges that have been announced. */
static void announce_left_ranges(struct model *md)
{
	if (md->generation.number != 1 && !md->options.any_first)
		return;
	if (md->options.any_first)
		announce_gc_left(md);
	else if (md->gc.phase == GC_ON)
		announce_gc_before(md);
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		if (md->entities.gs.all[i]->status != G_DEAD)
			announce_assist(md, md->entities.gs.all[i]);
	}
}

/*
 * Up to Go 1.23 a goroutine gets its id after the probe on its creation, and its next record has the id. A
 * goroutine without an id at the end of the generation keeps a made-up one for life.
 */
static void generation_number(struct model *md, uint32_t g)
{
	if (g && !md->entities.gs.goids[g])
		md->entities.gs.goids[g] = OWN_GOID + 1 + md->totals.unnumbered++;
}

static bool has_unnumbered(const struct model *md)
{
	uint32_t g = 1;

	while (g < md->entities.gs.n && md->entities.gs.goids[g])
		g++;
	return g < md->entities.gs.n;
}

/* Numbers them in order of appearance. */
static void assign_missing_goids(struct model *md)
{
	size_t n = has_unnumbered(md) ? md->ops.n : 0;

	for (size_t i = 0; i < n; i++) {
		generation_number(md, md->ops.ops[i].g);
		generation_number(md, md->ops.ops[i].g2);
	}
	for (unsigned i = 0; i < md->entities.nps; i++)
		md->entities.ps[i]->unnumbered = 0;
}

/*
 * Go's validator wants the wall clock to go forward (Go 1.25 internal/trace/testtrace/validation.go). One
 * that was set back goes at half its speed in the trace until it agrees again.
 */
static uint64_t wall_forward(const struct open_generation *before, uint64_t start, uint64_t wall)
{
	uint64_t least = before->last_wall + (start - before->last_start) / 2 + 1;

	return before->last_wall && wall < least ? least : wall;
}

static void to_moment(struct model *md, struct generation *gen)
{
	struct open_generation *open = &md->generation;
	uint64_t at = open->clock.wall_sec * 1000000000 + open->clock.wall_nsec + gen->start;
	uint64_t wall =
		wall_forward(open, gen->start, at > open->clock.mono_ns ? at - open->clock.mono_ns : 0);

	open->last_start = gen->start;
	open->last_wall = wall;
	gen->mono_ns = gen->start;
	gen->wall_sec = wall / 1000000000;
	gen->wall_nsec = (uint32_t)(wall % 1000000000);
}

static void fill_tables(struct model *md)
{
	md->tables = (struct tables){
		.strings = md->options.strings,
		.texts = md->texts,
		.goids = md->entities.gs.goids,
		.ngoroutines = md->entities.gs.n,
		.stacks = md->stacks.stacks,
		.nstacks = md->stacks.n,
		.heap_base = md->memory.base,
	};
}

/* Boundaries come about once a second; if a log was silent for an hour, a clock is wrong. */
#define MAX_SILENCE_NS (3600 * 1000000000ull)

/* The silence before the boundary belongs to the generation. */
static uint64_t generation_end_time(struct model *md)
{
	uint64_t until = md->generation.until, last = md->ops.last_time;

	md->generation.until = 0;
	return until > last && until - last < MAX_SILENCE_NS ? until : last;
}

static void add_to_totals(struct model *md, const struct generation *gen)
{
	if (stats_add(md->stats, md, gen))
		md->oom = true;
	md->totals.generations++;
	md->totals.end_ns = md->ops.last_time;
}

void generation_close(struct model *md, bool last)
{
	struct generation gen = {
		.number = md->generation.number,
		.last = last,
		.start = md->generation.start,
		.tables = &md->tables,
	};

	if (!md->generation.number)
		return;
	if (md->gc.stw)
		step_stw_end(md, REPAIRED);
	announce_left_ranges(md);
	md->front->end_generation(md, last);
	annotators_settle(&md->annotators);
	op_list_apply_moves(&md->ops);
	assign_missing_goids(md);
	fill_tables(md); /* a generation_watch may read them */
	annotators_close(&md->annotators);
	own_logs_settle(md);
	md->view.pending = 0;
	gen.end = generation_end_time(md);
	gen.nops = md->ops.n;
	gen.ops = md->ops.ops;
	md->generation.boundary_due = false;
	fill_tables(md);
	to_moment(md, &gen);
	if (!md->sink_error && !md->oom)
		md->sink_error = md->options.sink(md->options.ctx, &gen);
	/* The statistics are those of the file, which may have been cut. */
	if (!md->sink_error)
		add_to_totals(md, &gen);
	else if (stats_end(md->stats))
		md->oom = true;
	g_recycle(&md->entities);
	strtab_clear(md->texts);
	annotators_prune(&md->annotators);
	prune_stacks(md);
	prune_names(md);
	prune_threads(md);
}

void generation_boundary(struct model *md, const struct log_boundary *boundary, const struct log_m *ms)
{
	if (!md->generation.number)
		return;
	md->front->settle(md, boundary, ms);
	/*
	 * Readers distinguish kinds of stop-the-world by string id, which is valid in one generation. So wait
	 * for the end, but only until the next boundary.
	 */
	if (md->gc.stw && !md->generation.boundary_due) {
		md->generation.boundary_due = true;
		return;
	}
	md->generation.until = boundary->time_before;
	generation_close(md, false);
	/*
	 * The log holds everything before the boundary, so the next generation begins when the Ms were read,
	 * even if little happened.
	 */
	if (boundary->time_before > md->ops.last_time &&
	    boundary->time_before - md->ops.last_time < MAX_SILENCE_NS)
		md->ops.last_time = boundary->time_before;
	generation_open(md);
}
