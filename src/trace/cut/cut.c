/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/cut/cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/cut/filter.h"
#include "trace/cut/state.h"
#include "trace/ops/own_logs.h"
#include "util/array.h"

struct cutter {
	struct cut_options options;
	struct cut_state state;
	struct op *ops;                /* of the open generation */
	size_t n, head, capacity;      /* head: statuses and open ranges */
	const struct generation *from; /* the input generation */
	uint64_t known_from;           /* the start of the trace */
	uint64_t start;                /* of the open generation */
	uint64_t last;                 /* time of the last op */
	uint32_t number;               /* of the open generation in its piece; 0 = none is open */
	bool begun, done;
	bool gc_reported;     /* the open generation has an OP_GC_ACTIVE */
	struct op left_out;   /* the last log of what the recording leaves out; OP_NONE: nothing */
	bool left_out_unsaid; /* by the open piece */
	uint64_t total;
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

/* Follows an op that is not in the piece, which counts only if it is the log of a gap. */
static int skip(struct cutter *cutter, const struct op *op)
{
	struct ledger *ledger = &cutter->state.ledger;
	bool watched = !ledger->unwatched;
	int rc = op->kind == OP_LOG ? ledger_step(ledger, op) : 0;

	cutter->unmarked_gaps += watched && ledger->unwatched && cutter->begun;
	return rc;
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

	for (size_t i = 0; i < state->nsweeps; i++)
		n += state->sweeps[i];
	for (size_t i = 0; i < state->nranges; i++)
		n += state->ranges[i].assists && ledger_alive(&state->ledger, (uint32_t)i);
	return n;
}

static int cut_put_procs(struct cutter *cutter)
{
	for (size_t i = 0; i < cutter->state.ledger.nps; i++) {
		const struct ledger_p *p = &cutter->state.ledger.ps[i];
		struct op *op = p->status ? push(cutter) : NULL;

		if (!p->status)
			continue;
		if (!op)
			return -ENOMEM;
		op->kind = OP_PROC_STATUS;
		op->p = (int32_t)i;
		op->status = p->status;
		op->m = p->m;
	}
	return 0;
}

static int put_goroutines(struct cutter *cutter)
{
	for (size_t i = 1; i < cutter->state.ledger.ngs; i++) {
		const struct ledger_g *g = ledger_alive(&cutter->state.ledger, (uint32_t)i);
		struct op *op = g ? push(cutter) : NULL;

		if (!g)
			continue;
		if (!op)
			return -ENOMEM;
		op->kind = OP_GO_STATUS;
		op->g = (uint32_t)i;
		op->status = g->known.state;
		op->m = g->known.m;
		op->stack = g->own_stack && op->status != G_RUNNING ? g->own_stack : g->entry;
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
static uint32_t cut_find_running(const struct cutter *cutter)
{
	for (size_t i = 1; i < cutter->state.ledger.ngs; i++) {
		if (cutter->state.ledger.gs[i].known.state == G_RUNNING)
			return (uint32_t)i;
	}
	return NO_G;
}

/*
 * Reports an active collection. After a piece's first generation, this requires a running goroutine. If none
 * runs, the input's own OP_GC_ACTIVE is used (is_due).
 */
static int cut_put_gc(struct cutter *cutter)
{
	const struct ledger *ledger = &cutter->state.ledger;
	uint32_t g = cutter->number == 1 ? NO_G : cut_find_running(cutter);
	uint32_t m = g ? ledger->gs[g].known.m : NO_M;

	cutter->gc_reported = cutter->state.gc && (cutter->number == 1 || g);
	if (!cutter->gc_reported)
		return 0;
	return put_open(cutter, OP_GC_ACTIVE, g, g ? ledger_p_of(ledger, m) : NO_P, m);
}

static int put_ranges(struct cutter *cutter)
{
	const struct cut_state *state = &cutter->state;
	int rc = cut_put_gc(cutter);

	for (size_t i = 0; i < state->nsweeps && !rc; i++) {
		if (state->sweeps[i])
			rc = put_open(cutter, OP_GC_SWEEP_ACTIVE, NO_G, (int32_t)i,
				      ledger_p(&state->ledger, (int32_t)i).m);
	}
	for (size_t i = 1; i < state->nranges && !rc; i++) {
		const struct ledger_g *g = ledger_alive(&state->ledger, (uint32_t)i);

		if (g && state->ranges[i].assists)
			rc = put_open(cutter, OP_GC_ASSIST_ACTIVE, (uint32_t)i, NO_P, g->known.m);
	}
	return rc;
}

static int cut_begin(struct cutter *cutter, uint64_t start)
{
	size_t statuses;

	cutter->n = 0;
	cutter->start = start;
	cutter->number++;
	if (cutter->number == 1)
		cutter->left_out_unsaid = cutter->left_out.kind == OP_LOG;
	cutter->unmarked_gaps += cutter->number == 1 && cutter->state.ledger.unwatched;
	if (cut_put_procs(cutter) || put_goroutines(cutter))
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
		struct cut_ranges *g = cut_ranges(&cutter->state, op->g);

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
static uint64_t cut_end_time(const struct cutter *cutter, uint64_t until)
{
	uint64_t end = until < cutter->options.to ? until : cutter->options.to;

	return end > cutter->last ? end : cutter->last;
}

static int cut_cut_end(struct cutter *cutter, bool last, uint64_t until)
{
	const struct generation *from = cutter->from;
	struct generation gen = {
		.number = cutter->number,
		.shows_end = last && cutter->options.to != UINT64_MAX,
		.start = cutter->start,
		.end = cut_end_time(cutter, until),
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

/* --- what is left out --- */

static void cutter_note_left_out(struct cutter *cutter, const struct op *op)
{
	size_t category_len, len;
	const char *category, *text;
	unsigned missing;

	if (op->kind != OP_LOG)
		return;
	category = tables_string(cutter->from->tables, op->string, &category_len);
	text = tables_string(cutter->from->tables, op->string2, &len);
	if (!left_out_log_parse(category, text, &missing))
		return;
	cutter->left_out = missing ? *op : (struct op){.kind = OP_NONE};
	/* Texts of logs live for a generation, other strings as long as the trace. */
	if (missing)
		cutter->left_out.string2 = strtab_add(cutter->from->tables->strings, text, len);
	cutter->left_out_unsaid = false;
}

/* What was left out before the piece began is still left out: says so once a goroutine runs. */
static int say_left_out(struct cutter *cutter, const struct op *begin)
{
	struct op *log;

	if (!cutter->left_out_unsaid || begin->kind != OP_GO_START || begin->p == NO_P || !begin->m)
		return 0;
	log = push(cutter);
	if (!log)
		return -ENOMEM;
	*log = cutter->left_out;
	log->time = begin->time;
	log->g = begin->g;
	log->p = begin->p;
	log->m = begin->m;
	log->stack = 0;
	cutter->left_out_unsaid = false;
	return 0;
}

/* A generation may end if the world is not stopped and there is time for the next head before the next op. */
static bool may_split(const struct cutter *cutter, const struct op *op)
{
	return cutter->options.most_ops && cutter->n - cutter->head >= cutter->options.most_ops &&
	       !cutter->state.nstw && (!cutter->state.gc || cut_find_running(cutter)) &&
	       op->time > cutter->last + lead(cutter) + 1;
}

static int cut_add(struct cutter *cutter, const struct op *op)
{
	struct op *new;
	int rc = 0;

	if (may_split(cutter, op)) {
		uint64_t next = op->time - lead(cutter);

		rc = cut_cut_end(cutter, false, next - 1);
		if (!rc)
			rc = cut_begin(cutter, next);
	}
	new = rc ? NULL : push(cutter);
	if (!new)
		return rc ? rc : -ENOMEM;
	*new = *op;
	cutter->last = op->time;
	return say_left_out(cutter, op);
}

/* A piece begins at the time that was asked for, or when the recording goes on after a gap; or with its first
 * op, if the states are not known by then. */
static int cutter_begin_piece(struct cutter *cutter, uint64_t first_op)
{
	uint64_t before = lead(cutter), start = first_op > before ? first_op - before : 1;
	uint64_t from = cutter->options.from;

	if (from < cutter->state.ledger.watched_since)
		from = cutter->state.ledger.watched_since;
	if (from > cutter->known_from && from < start)
		start = from;
	cutter->begun = true;
	return cut_begin(cutter, start);
}

/* Nothing has happened in the time that was asked for, but the states are known. */
static bool is_quiet(const struct cutter *cutter, const struct generation *gen)
{
	return !cutter->begun && !cutter->state.ledger.unwatched && !cutter->options.goids &&
	       cutter->options.from > cutter->known_from && cutter->options.from < gen->end;
}

/* --- ops --- */

/* A stop-the-world that was active when the piece began has no begin, so its end is dropped. */
static bool is_stray(struct cutter *cutter, const struct op *op)
{
	const struct cut_ranges *g = op->kind == OP_STW_END ? cut_ranges(&cutter->state, op->g) : NULL;

	return g && !g->nstw;
}

static void forget_stw(struct cutter *cutter)
{
	cutter->state.nstw = 0;
	for (size_t i = 0; i < cutter->state.nranges; i++)
		cutter->state.ranges[i].nstw = 0;
}

/* Returns true for a redundant status. Only those of the first generation and of new Ps are not. */
static bool is_known(const struct cutter *cutter, const struct op *op)
{
	const struct ledger *ledger = &cutter->state.ledger;

	return (op->kind == OP_PROC_STATUS && ledger_p(ledger, op->p).status) ||
	       (op->kind == OP_GO_STATUS && ledger_alive(ledger, op->g));
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

static bool cut_is_shown(struct cutter *cutter, struct op *op)
{
	return op->kind != OP_NONE && op->kind != OP_CPU_SAMPLE && !is_known(cutter, op) &&
	       cut_filter(&cutter->options, &cutter->state, cutter->from->tables, op) &&
	       !is_stray(cutter, op);
}

static int cut_step(struct cutter *cutter, const struct op *from)
{
	struct op op = *from;
	bool shown = cut_is_shown(cutter, &op);
	int rc = 0;

	cutter_note_left_out(cutter, from);
	if (!shown)
		return skip(cutter, from);
	if (is_head(op.kind) && !is_due(cutter, &op))
		return cut_apply(&cutter->state, &op); /* cut_begin() writes it */
	if (cutter->begun && op.time < cutter->last)   /* a new P among the statuses */
		op.time = cutter->last + 1;
	if (!cutter->begun && op.time >= cutter->options.from && !cutter->state.ledger.unwatched) {
		forget_stw(cutter);
		if (is_stray(cutter, &op))
			return 0;
		rc = cutter_begin_piece(cutter, op.time);
	}
	if (!rc && cutter->begun)
		rc = cut_add(cutter, &op);
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

/*
 * Begins an output generation with the input generation, or at the end of the piece if that is earlier. The
 * open ranges are known from earlier ops.
 */
static int begin_with(struct cutter *cutter, const struct generation *gen)
{
	uint64_t start = gen->start, to = cutter->options.to;

	if (start > to && start > cutter->last + 1)
		start = to > cutter->last ? to : cutter->last + 1;
	return cutter->begun && !cutter->done ? cut_begin(cutter, start) : 0;
}

int cutter_generation(struct cutter *cutter, const struct generation *gen)
{
	bool over = gen->last;
	int rc;

	if (cutter->done)
		return 0;
	cutter->from = gen;
	if (gen->number == 1)
		cutter->known_from = gen->start;
	ledger_begin(&cutter->state.ledger, gen);
	rc = preapply_active_ranges(cutter, gen);
	if (!rc)
		rc = begin_with(cutter, gen);
	for (size_t i = 0; i < gen->nops && !rc && !cutter->done; i++) {
		if (gen->ops[i].kind != OP_CPU_SAMPLE && gen->ops[i].time > cutter->options.to)
			break;
		rc = cut_step(cutter, &gen->ops[i]);
	}
	if (gen->end > cutter->options.to)
		over = true;
	cutter->done = over;
	if (!rc && over && is_quiet(cutter, gen)) {
		forget_stw(cutter);
		rc = cutter_begin_piece(cutter, UINT64_MAX);
	}
	if (rc || !cutter->begun)
		return rc;
	return cut_cut_end(cutter, over, cutter->from->end);
}
