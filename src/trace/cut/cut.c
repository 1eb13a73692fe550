/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/cut/cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/cut/filter.h"
#include "trace/cut/state.h"
#include "util/array.h"
#include "trace/ops/gap_log.h"

struct cutter {
	struct cut_options options;
	struct cut_state state;
	struct op *ops;                /* of the open generation */
	size_t n, head, capacity;      /* head: statuses and open ranges */
	const struct generation *from; /* the input generation */
	uint64_t start;                /* of the open generation */
	uint64_t last;                 /* time of the last op */
	uint32_t number;               /* of the open generation in its piece; 0 = none is open */
	bool begun, done;
	bool gc_reported; /* the open generation has an OP_GC_ACTIVE */
	uint64_t total;
	bool unwatched; /* nothing was recorded at the time of the current op */
	uint64_t unmarked_gaps;
};

/* Minimum distance in ns between a generation's start, its open ranges, and other ops
 * (trace/convert/builder.c). */
enum { GAP = OP_UNIT_NS };

struct cutter *cutter_new(const struct cut_options *options)
{
	struct cutter *cutter = calloc(1, sizeof(*cutter));

	if (cutter)
		cutter->options = *options;
	return cutter;
}

void cutter_free(struct cutter *cutter)
{
	if (!cutter)
		return;
	cut_state_free(&cutter->state);
	free(cutter->ops);
	free(cutter);
}

uint64_t cutter_ops(const struct cutter *cutter)
{
	return cutter->total;
}

uint64_t cutter_unmarked_gaps(const struct cutter *cutter)
{
	return cutter->unmarked_gaps;
}

/* --- gaps in the recording --- */

static enum gap_log gap_log_of(const struct tables *tables, const struct op *op)
{
	size_t category_len, len;
	const char *category = tables_string(tables, op->string, &category_len);
	const char *text = tables_string(tables, op->string2, &len);

	return op->kind == OP_LOG ? gap_log_kind(category, category_len, text, len) : GAP_LOG_NONE;
}

/* Updates the gap state. shown: the op is in the piece. */
static void note_gap(struct cutter *cutter, const struct op *op, bool shown)
{
	enum gap_log kind = gap_log_of(cutter->from->tables, op);

	if (kind == GAP_LOG_NONE)
		return;
	cutter->unwatched = kind == GAP_LOG_BEGINS;
	cutter->unmarked_gaps += cutter->unwatched && cutter->begun && !shown;
}

static struct op *push(struct cutter *cutter)
{
	if (array_grow(&cutter->ops, &cutter->capacity, cutter->n + 1, sizeof(*cutter->ops)))
		return NULL;
	cutter->ops[cutter->n] = (struct op){.p = NO_P};
	return &cutter->ops[cutter->n++];
}

/* --- the head of a generation --- */

static size_t count_open(const struct cutter *cutter)
{
	const struct cut_state *state = &cutter->state;
	size_t n = state->gc;

	for (size_t i = 0; i < state->proc_capacity; i++)
		n += state->procs[i].sweeps;
	for (size_t i = 0; i < state->goroutine_capacity; i++)
		n += state->goroutines[i].status && state->goroutines[i].assists;
	return n;
}

static int put_procs(struct cutter *cutter)
{
	for (size_t i = 0; i < cutter->state.proc_capacity; i++) {
		const struct cut_proc *proc = &cutter->state.procs[i];
		struct op *op = proc->known ? push(cutter) : NULL;

		if (!proc->known)
			continue;
		if (!op)
			return -ENOMEM;
		op->kind = OP_PROC_STATUS;
		op->p = (int32_t)i;
		op->status = proc->status;
		op->m = proc->m;
	}
	return 0;
}

static int put_goroutines(struct cutter *cutter)
{
	for (size_t i = 1; i < cutter->state.goroutine_capacity; i++) {
		const struct cut_goroutine *g = &cutter->state.goroutines[i];
		struct op *op = g->status ? push(cutter) : NULL;

		if (!g->status)
			continue;
		if (!op)
			return -ENOMEM;
		op->kind = OP_GO_STATUS;
		op->g = (uint32_t)i;
		op->status = g->status;
		op->m = g->m;
		op->stack = g->stack && g->status != G_RUNNING ? g->stack : g->entry;
		op->stack2 = cutter->number == 1 ? g->entry : 0;
	}
	return 0;
}

static int put_open(struct cutter *cutter, unsigned kind, uint32_t g, int32_t p, uint32_t m)
{
	struct op *op = push(cutter);

	if (!op)
		return -ENOMEM;
	op->kind = (uint8_t)kind;
	op->g = g;
	op->p = p;
	op->m = m;
	return 0;
}

/* Returns a running goroutine, whose thread can report the collection, or NO_G. */
static uint32_t find_running(const struct cutter *cutter)
{
	for (size_t i = 1; i < cutter->state.goroutine_capacity; i++) {
		if (cutter->state.goroutines[i].status == G_RUNNING)
			return (uint32_t)i;
	}
	return NO_G;
}

/*
 * Reports an active collection. After a piece's first generation, this requires a running goroutine. If none
 * runs, the input's own OP_GC_ACTIVE is used (is_due).
 */
static int put_gc(struct cutter *cutter)
{
	uint32_t g = cutter->number == 1 ? NO_G : find_running(cutter), m;
	const struct cut_thread *thread;

	cutter->gc_reported = cutter->state.gc && (cutter->number == 1 || g);
	if (!cutter->gc_reported)
		return 0;
	m = g ? cutter->state.goroutines[g].m : NO_M;
	thread = g ? cut_thread(&cutter->state, m) : NULL;
	return put_open(cutter, OP_GC_ACTIVE, g, thread ? thread->p : NO_P, m);
}

static int put_ranges(struct cutter *cutter)
{
	const struct cut_state *state = &cutter->state;
	int rc = put_gc(cutter);

	for (size_t i = 0; i < state->proc_capacity && !rc; i++) {
		if (state->procs[i].sweeps)
			rc = put_open(cutter, OP_GC_SWEEP_ACTIVE, NO_G, (int32_t)i, state->procs[i].m);
	}
	for (size_t i = 1; i < state->goroutine_capacity && !rc; i++) {
		if (state->goroutines[i].status && state->goroutines[i].assists)
			rc = put_open(cutter, OP_GC_ASSIST_ACTIVE, (uint32_t)i, NO_P, state->goroutines[i].m);
	}
	return rc;
}

static int begin(struct cutter *cutter, uint64_t start)
{
	size_t statuses;

	cutter->n = 0;
	cutter->start = start;
	cutter->number++;
	cutter->unmarked_gaps += cutter->number == 1 && cutter->unwatched;
	if (put_procs(cutter) || put_goroutines(cutter))
		return -ENOMEM;
	statuses = cutter->n;
	if (put_ranges(cutter))
		return -ENOMEM;
	for (size_t i = 0; i < cutter->n; i++)
		cutter->ops[i].time = i < statuses ? start : start + GAP + (i - statuses);
	cutter->head = cutter->n;
	cutter->last = cutter->n > statuses ? cutter->ops[cutter->n - 1].time : start;
	return 0;
}

/* Returns the time in ns by which a generation's start precedes its first op. */
static uint64_t lead(const struct cutter *cutter)
{
	return 2 * GAP + count_open(cutter) + 1;
}

/* --- samples, which are not ordered --- */

static bool is_within(const struct cutter *cutter, uint64_t time)
{
	return time >= cutter->options.from && time <= cutter->options.to;
}

static int put_samples(struct cutter *cutter, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < cutter->from->nops; i++) {
		struct op sample = cutter->from->ops[i], *op;

		if (sample.kind != OP_CPU_SAMPLE || sample.time < from || sample.time > to ||
		    !is_within(cutter, sample.time) ||
		    !cut_filter(&cutter->options, &cutter->state, cutter->from->tables, &sample))
			continue;
		op = push(cutter);
		if (!op)
			return -ENOMEM;
		*op = sample;
	}
	return 0;
}

/* --- the end of a generation --- */

/* Removes begins of stop-the-worlds whose end is not in the piece: a generation must have both or none. */
static void drop_open_stw(struct cutter *cutter)
{
	for (size_t i = cutter->n; i-- > cutter->head && cutter->state.nstw;) {
		struct op *op = &cutter->ops[i];
		struct cut_goroutine *g = cut_goroutine(&cutter->state, op->g);

		if (op->kind == OP_STW_END && g) {
			g->ends++;
		} else if (op->kind == OP_STW_BEGIN && g && g->ends) {
			g->ends--;
		} else if (op->kind == OP_STW_BEGIN) {
			op->kind = OP_NONE;
			cutter->state.nstw--;
		}
	}
}

/* Returns the end of a generation that covers the time up to `until`. It may be later than the last op. */
static uint64_t end_time(const struct cutter *cutter, uint64_t until)
{
	uint64_t end = until < cutter->options.to ? until : cutter->options.to;

	return end > cutter->last ? end : cutter->last;
}

static int end(struct cutter *cutter, bool last, uint64_t until)
{
	const struct generation *from = cutter->from;
	struct generation gen = {
		.number = cutter->number,
		.start = cutter->start,
		.end = end_time(cutter, until),
		.mono_ns = cutter->start,
		.tables = from->tables,
	};
	int64_t ns = (int64_t)(cutter->start - from->mono_ns) + (int64_t)from->wall_nsec;
	int64_t sec = (int64_t)from->wall_sec + ns / 1000000000;
	size_t nops = cutter->n - cutter->head;
	bool ends;

	if (last)
		drop_open_stw(cutter);
	if (put_samples(cutter, cutter->start, gen.end))
		return -ENOMEM;
	ns %= 1000000000;
	sec -= ns < 0;
	gen.wall_sec = (uint64_t)(sec < 0 ? 0 : sec);
	gen.wall_nsec = (uint32_t)(ns < 0 ? ns + 1000000000 : ns);
	ends = !last && cutter->options.ends && cutter->options.ends(cutter->options.ctx, nops);
	gen.last = last || ends;
	gen.ops = cutter->ops;
	gen.nops = cutter->n;
	cutter->total += nops;
	if (ends)
		cutter->number = 0;
	return cutter->options.generation(cutter->options.ctx, &gen);
}

/* A generation may end if the world is not stopped and there is time for the next head before the next op. */
static bool may_split(const struct cutter *cutter, const struct op *op)
{
	return cutter->options.most_ops && cutter->n - cutter->head >= cutter->options.most_ops &&
	       !cutter->state.nstw && (!cutter->state.gc || find_running(cutter)) &&
	       op->time > cutter->last + lead(cutter) + 1;
}

static int add(struct cutter *cutter, const struct op *op)
{
	struct op *new;
	int rc = 0;

	if (may_split(cutter, op)) {
		uint64_t next = op->time - lead(cutter);

		rc = end(cutter, false, next - 1);
		if (!rc)
			rc = begin(cutter, next);
	}
	new = rc ? NULL : push(cutter);
	if (!new)
		return rc ? rc : -ENOMEM;
	*new = *op;
	cutter->last = op->time;
	return 0;
}

/* --- ops --- */

/* A stop-the-world that was active when the piece began has no begin, so its end is dropped. */
static bool is_stray(struct cutter *cutter, const struct op *op)
{
	const struct cut_goroutine *g = op->kind == OP_STW_END ? cut_goroutine(&cutter->state, op->g) : NULL;

	return g && !g->nstw;
}

static void forget_stw(struct cutter *cutter)
{
	cutter->state.nstw = 0;
	for (size_t i = 0; i < cutter->state.goroutine_capacity; i++)
		cutter->state.goroutines[i].nstw = 0;
}

/* Returns true for a redundant status. Only those of the first generation and of new Ps are not. */
static bool is_known(struct cutter *cutter, const struct op *op)
{
	const struct cut_proc *proc = op->kind == OP_PROC_STATUS ? cut_proc(&cutter->state, op->p) : NULL;
	const struct cut_goroutine *g =
		op->kind == OP_GO_STATUS ? cut_goroutine(&cutter->state, op->g) : NULL;

	return (proc && proc->known) || (g && g->status);
}

static bool is_head(unsigned kind)
{
	return kind == OP_PROC_STATUS || kind == OP_GO_STATUS || kind == OP_GC_ACTIVE ||
	       kind == OP_GC_SWEEP_ACTIVE || kind == OP_GC_ASSIST_ACTIVE;
}

/* Returns true for a new P, and for an active collection that the generation's head could not report. */
static bool is_due(struct cutter *cutter, const struct op *op)
{
	if (op->kind == OP_PROC_STATUS)
		return cutter->begun;
	if (op->kind != OP_GC_ACTIVE || !cutter->begun || cutter->gc_reported)
		return false;
	cutter->gc_reported = true;
	return true;
}

static bool is_shown(struct cutter *cutter, struct op *op)
{
	return op->kind != OP_NONE && op->kind != OP_CPU_SAMPLE && !is_known(cutter, op) &&
	       cut_filter(&cutter->options, &cutter->state, cutter->from->tables, op) &&
	       !is_stray(cutter, op);
}

static int step(struct cutter *cutter, const struct op *from)
{
	struct op op = *from;
	bool shown = is_shown(cutter, &op);
	int rc = 0;

	if (!shown) {
		note_gap(cutter, from, false);
		return 0;
	}
	if (is_head(op.kind) && !is_due(cutter, &op))
		return cut_apply(&cutter->state, &op); /* begin() writes it */
	if (cutter->begun && op.time < cutter->last)   /* a new P among the statuses */
		op.time = cutter->last + 1;
	if (!cutter->begun && op.time >= cutter->options.from) {
		uint64_t before = lead(cutter);

		forget_stw(cutter);
		if (is_stray(cutter, &op))
			return 0;
		cutter->begun = true;
		rc = begin(cutter, op.time > before ? op.time - before : 1);
	}
	if (!rc && cutter->begun)
		rc = add(cutter, &op);
	note_gap(cutter, from, true);
	return rc ? rc : cut_apply(&cutter->state, &op);
}

/*
 * Applies the first generation's assists and sweeps in advance: a native trace states that they were active
 * from the start only at the first event of the goroutine or P.
 */
static int preapply_active_ranges(struct cutter *cutter, const struct generation *gen)
{
	int rc = 0;

	for (size_t i = 0; i < gen->nops && gen->number == 1 && !rc; i++) {
		struct op op = gen->ops[i];

		if ((op.kind == OP_GC_ASSIST_ACTIVE || op.kind == OP_GC_SWEEP_ACTIVE) &&
		    cut_filter(&cutter->options, &cutter->state, gen->tables, &op))
			rc = cut_apply(&cutter->state, &op);
	}
	return rc;
}

/* Begins an output generation with the input generation. The open ranges are known from earlier ops. */
static int begin_with(struct cutter *cutter, const struct generation *gen)
{
	return cutter->begun && !cutter->done ? begin(cutter, gen->start) : 0;
}

int cutter_generation(struct cutter *cutter, const struct generation *gen)
{
	bool over = gen->last;
	int rc;

	if (cutter->done)
		return 0;
	cutter->from = gen;
	rc = preapply_active_ranges(cutter, gen);
	if (!rc)
		rc = begin_with(cutter, gen);
	for (size_t i = 0; i < gen->nops && !rc && !cutter->done; i++) {
		if (gen->ops[i].kind != OP_CPU_SAMPLE && gen->ops[i].time > cutter->options.to)
			break;
		rc = step(cutter, &gen->ops[i]);
	}
	if (gen->end > cutter->options.to)
		over = true;
	cutter->done = over;
	if (rc || !cutter->begun)
		return rc;
	return end(cutter, over, cutter->from->end);
}
