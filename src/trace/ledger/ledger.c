/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/ledger/ledger.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"
#include "util/array.h"

enum {
	MAX_LEDGER_PS = 1 << 16, /* limit of the encoders; GOMAXPROCS is at most 1024 */
	MAX_LEDGER_GS = 1 << 28, /* would take 20 GB */
};

void ledger_init(struct ledger *ledger, const struct ledger_observer *observer)
{
	*ledger = (struct ledger){.observer = *observer};
}

void ledger_free(struct ledger *ledger)
{
	free(ledger->gs);
	free(ledger->ps);
	map64_free(&ledger->p_of_thread);
	*ledger = (struct ledger){0};
}

void ledger_begin(struct ledger *ledger, const struct generation *gen)
{
	if (!ledger->began)
		ledger->start = gen->start;
	ledger->began = true;
	ledger->tables = gen->tables;
	if (gen->end > ledger->now)
		ledger->now = gen->end;
}

/* --- changes of a goroutine --- */

/* The part of a known state that is watched. */
static struct ledger_interval watched_part(const struct ledger *ledger, struct ledger_interval known)
{
	if (known.since < ledger->watched_since && known.state != LEDGER_NONE)
		known.since = known.named = ledger->watched_since;
	return known;
}

static struct ledger_interval unwatched_part(const struct ledger *ledger, const struct ledger_g *g)
{
	uint64_t since = g->appeared > ledger->gap_since ? g->appeared : ledger->gap_since;

	return (struct ledger_interval){.since = since, .named = since, .p = NO_P, .state = LEDGER_UNWATCHED};
}

struct ledger_interval ledger_watched(const struct ledger *ledger, const struct ledger_g *g)
{
	return ledger->unwatched ? unwatched_part(ledger, g) : watched_part(ledger, g->known);
}

/* The goroutine was in change->was, and is now in its known state, which is not copied: that would be dear.
 */
static int ledger_report(struct ledger *ledger, const struct ledger_g *g, struct ledger_change *change)
{
	struct ledger_interval part;

	if (!ledger->observer.change)
		return 0;
	change->g = (uint32_t)(g - ledger->gs);
	change->from = &change->was;
	change->to = &g->known;
	if (ledger->unwatched) {
		part = unwatched_part(ledger, g);
		if (change->was.state == LEDGER_NONE)
			change->to = &part;
		else if (g->known.state == LEDGER_NONE)
			change->from = &part;
		else
			change->hidden = true;
	} else if (change->was.since < ledger->watched_since) {
		part = watched_part(ledger, change->was);
		change->from = &part;
	}
	return ledger->observer.change(ledger->observer.ctx, change);
}

static uint32_t index_if_alive(const struct ledger *ledger, uint32_t g)
{
	return ledger_alive(ledger, g) ? g : NO_G;
}

/* Begins a life, whose state the caller sets. Returns NULL when out of memory. */
static struct ledger_g *ledger_begin_life(struct ledger *ledger, uint32_t index, const struct op *op)
{
	const struct tables *tables = ledger->tables;

	if (index >= MAX_LEDGER_GS ||
	    array_grow(&ledger->gs, &ledger->ngs, (size_t)index + 1, sizeof(*ledger->gs)))
		return NULL;
	ledger->gs[index] = (struct ledger_g){
		.appeared = op->time,
		.goid = tables && index < tables->ngoroutines ? tables->goids[index] : 0,
		.entry = op->stack2,
	};
	return &ledger->gs[index];
}

static void count_run(struct ledger *ledger, const struct ledger_g *g, uint32_t m)
{
	if (ledger_is_own(g))
		return;
	ledger->runs++;
	ledger->runs_as_thread += g->goid == m;
}

static int state_g(struct ledger *ledger, const struct op *op)
{
	bool held = op->status == G_RUNNING || op->status == G_SYSCALL;
	struct ledger_change change = {.time = op->time, .op = op, .was.p = NO_P};
	struct ledger_g *g;

	if (!op->g || ledger_alive(ledger, op->g))
		return 0;
	g = ledger_begin_life(ledger, op->g, op);
	if (!g)
		return -ENOMEM;
	g->own_stack = op->stack;
	g->known = (struct ledger_interval){
		.since = op->time,
		.named = op->arg > op->time ? op->arg : op->time,
		.reason = op->string,
		.stack = op->stack,
		.m = op->m,
		.p = held ? ledger_p_of(ledger, op->m) : NO_P,
		.state = op->status,
		.before = true,
	};
	if (op->status == G_RUNNING)
		count_run(ledger, g, op->m);
	return ledger_report(ledger, g, &change);
}

/* The state that an op leads to. Field by field: to copy a struct that was just made is dear. */
static inline void ledger_enter(struct ledger_interval *known, const struct op *op, uint8_t state,
				uint64_t time)
{
	bool held = state == G_RUNNING || state == G_SYSCALL;

	known->since = time;
	known->named = time;
	known->reason = op->kind == OP_GO_BLOCK || op->kind == OP_GO_STOP ? op->string : 0;
	known->stack = op->stack;
	known->m = held ? op->m : NO_M;
	known->p = held ? op->p : NO_P;
	known->state = state;
	known->before = false;
	known->others = false;
}

static int ledger_create(struct ledger *ledger, const struct op *op, uint8_t state)
{
	struct ledger_change change = {.time = op->time, .op = op, .was.p = NO_P};
	struct ledger_g *g;

	if (!op_other(op))
		return 0;
	/* A thread's goroutine that appears in a system call has no creator. */
	change.by = op->g != op_other(op) ? index_if_alive(ledger, op->g) : NO_G;
	g = ledger_begin_life(ledger, op_other(op), op);
	if (!g)
		return -ENOMEM;
	ledger_enter(&g->known, op, state, op->time);
	g->known.others = true;
	if (change.by) {
		ledger->gs[change.by].created = op->time;
		/* What gotrace's own goroutine creates existed before: its creation was not seen. */
		g->known.before = ledger_is_own(&ledger->gs[change.by]);
	}
	return ledger_report(ledger, g, &change);
}

/* A goroutine that exists, whose state changes; or NULL. */
static inline struct ledger_g *find_alive(struct ledger *ledger, uint32_t index)
{
	return ledger_alive(ledger, index) ? &ledger->gs[index] : NULL;
}

/* The op's own goroutine leaves its state. */
static int ledger_leave(struct ledger *ledger, const struct op *op, uint8_t state, uint64_t time)
{
	struct ledger_g *g = find_alive(ledger, op->g);
	struct ledger_change change = {.time = time, .op = op};

	if (!g)
		return 0;
	if (op->stack)
		g->own_stack = op->stack;
	change.was = g->known;
	ledger_enter(&g->known, op, state, time);
	return ledger_report(ledger, g, &change);
}

static int ledger_wake(struct ledger *ledger, const struct op *op)
{
	struct ledger_g *g = find_alive(ledger, op->g2);
	struct ledger_change change = {
		.time = op->time, .op = op, .by = index_if_alive(ledger, op->g), .wakes = true};

	if (!g)
		return 0;
	change.was = g->known;
	ledger_enter(&g->known, op, G_RUNNABLE, op->time);
	g->known.others = true;
	return ledger_report(ledger, g, &change);
}

static int ledger_start(struct ledger *ledger, const struct op *op, uint32_t index, uint64_t time)
{
	struct ledger_g *g = find_alive(ledger, index);
	struct ledger_change change = {.time = time, .op = op};

	if (!g)
		return 0;
	change.was = g->known;
	ledger_enter(&g->known, op, G_RUNNING, time);
	g->known.stack = 0;
	if (change.was.state != G_SYSCALL)
		g->started = time;
	count_run(ledger, g, op->m);
	return ledger_report(ledger, g, &change);
}

/* Three steps, 1 ns apart, as in Go's readers: g2 is woken, g waits or ends, g2 runs. */
static int switch_to(struct ledger *ledger, const struct op *op, uint8_t state)
{
	int rc = ledger_wake(ledger, op);

	if (!rc)
		rc = ledger_leave(ledger, op, state, op->time + 1);
	return rc ? rc : ledger_start(ledger, op, op->g2, op->time + 2);
}

static int move_gs(struct ledger *ledger, const struct op *op, const struct transition *t)
{
	if (op_is_creation(op->kind))
		return ledger_create(ledger, op, t->other.to);
	if (t->other.from && t->self.from)
		return switch_to(ledger, op, t->self.to);
	if (t->other.from)
		return t->other.to == G_RUNNING ? ledger_start(ledger, op, op->g, op->time)
						: ledger_wake(ledger, op);
	return t->self.from && t->self.to != STATUS_KEPT ? ledger_leave(ledger, op, t->self.to, op->time) : 0;
}

/* --- Ps --- */

static int report_p(const struct ledger *ledger, int32_t p, uint64_t time)
{
	const struct ledger_p *was = &ledger->ps[p];

	if (!ledger->observer.proc || was->status == P_UNKNOWN)
		return 0;
	return ledger->observer.proc(ledger->observer.ctx, p, was, time);
}

/* m: the thread that has it from here on, or NO_M. */
static int set_p(struct ledger *ledger, int32_t p, unsigned status, uint32_t m, uint64_t time)
{
	struct ledger_p *of;
	int rc;

	if (p < 0 || p >= MAX_LEDGER_PS)
		return 0;
	if (array_grow(&ledger->ps, &ledger->nps, (size_t)p + 1, sizeof(*ledger->ps)))
		return -ENOMEM;
	of = &ledger->ps[p];
	if (of->status == status && of->m == m)
		return 0; /* stated again */
	if (of->m != m && of->m && ledger_p_of(ledger, of->m) == p &&
	    map64_set(&ledger->p_of_thread, of->m, 0))
		return -ENOMEM;
	if (of->m != m && m && map64_set(&ledger->p_of_thread, m, (uint32_t)p + 1))
		return -ENOMEM;
	rc = report_p(ledger, p, time);
	*of = (struct ledger_p){.since = time,
				.unwatched = ledger_unwatched_before(ledger, time),
				.m = m,
				.status = (uint8_t)status};
	return rc;
}

static int move_p(struct ledger *ledger, const struct op *op, uint8_t status)
{
	bool kept = status == P_SYSCALL || op->kind == OP_SYSCALL_END;
	uint32_t m = status == P_RUNNING ? op->m : NO_M;

	/* In a system call a P changes its status, but not its thread. */
	if (kept && (op->p < 0 || (size_t)op->p >= ledger->nps))
		return 0;
	return set_p(ledger, op->p, status, kept ? ledger->ps[op->p].m : m, op->time);
}

/* --- gaps --- */

int ledger_gap(struct ledger *ledger, uint64_t time, bool begins)
{
	const struct ledger_observer *observer = &ledger->observer;
	int rc = 0;

	if (begins == ledger->unwatched)
		return 0;
	ledger->unwatched = begins;
	if (begins) {
		ledger->gap_since = time;
	} else {
		ledger->watched_since = time;
		ledger->unwatched_ns += time > ledger->gap_since ? time - ledger->gap_since : 0;
	}
	for (size_t i = 1; i < ledger->ngs && observer->change && !rc; i++) {
		const struct ledger_g *g = &ledger->gs[i];
		struct ledger_change change = {.time = time, .g = (uint32_t)i, .was = g->known};
		struct ledger_interval watched = begins ? watched_part(ledger, g->known) : g->known;
		struct ledger_interval unwatched = unwatched_part(ledger, g);

		if (g->known.state == LEDGER_NONE)
			continue;
		change.from = begins ? &watched : &unwatched;
		change.to = begins ? &unwatched : &watched;
		if (begins)
			unwatched.since = unwatched.named = time;
		else
			watched.since = watched.named = time;
		rc = observer->change(observer->ctx, &change);
	}
	return observer->gap && !rc ? observer->gap(observer->ctx, time, begins) : rc;
}

/* --- what is left out --- */

static void ledger_set_missing(struct ledger *ledger, uint64_t time, unsigned missing)
{
	uint64_t watched = time - ledger_unwatched_before(ledger, time);
	uint64_t ns = watched > ledger->missing_since ? watched - ledger->missing_since : 0;

	ledger->no_calls_ns += ledger->missing & DETAIL_CALLS ? ns : 0;
	ledger->few_frames_ns += ledger->missing & DETAIL_FRAMES ? ns : 0;
	ledger->missing_since = watched;
	ledger->missing = missing;
	ledger->ever_missing |= missing;
}

void ledger_end_missing(struct ledger *ledger, uint64_t time)
{
	ledger_set_missing(ledger, time, 0);
}

static int ledger_read_log(struct ledger *ledger, const struct op *op)
{
	size_t category_len, len;
	const char *category, *text;
	enum gap_log kind;
	unsigned missing;

	if (!ledger->tables)
		return 0;
	category = tables_string(ledger->tables, op->string, &category_len);
	text = tables_string(ledger->tables, op->string2, &len);
	if (left_out_log_parse(category, text, &missing))
		ledger_set_missing(ledger, op->time, missing);
	kind = gap_log_kind(category, category_len, text, len);
	return kind == GAP_LOG_NONE ? 0 : ledger_gap(ledger, op->time, kind == GAP_LOG_BEGINS);
}

/* --- all together --- */

int ledger_step(struct ledger *ledger, const struct op *op)
{
	const struct transition *t = &transitions[op->kind];

	if (op->kind == OP_GO_STATUS)
		return state_g(ledger, op);
	if (op->kind == OP_PROC_STATUS)
		return set_p(ledger, op->p, op->status, op->m, op->time);
	if (op->kind == OP_LOG)
		return ledger_read_log(ledger, op);
	if (t->p.from && t->p.to != STATUS_KEPT) {
		int rc = move_p(ledger, op, t->p.to);

		if (rc)
			return rc;
	}
	return move_gs(ledger, op, t);
}

int ledger_finish(struct ledger *ledger)
{
	int rc = 0;

	ledger_end_missing(ledger, ledger->now);
	for (size_t i = 1; i < ledger->ngs && !rc; i++) {
		struct ledger_g *g = &ledger->gs[i];
		struct ledger_change change = {.time = ledger->now, .final = true, .was = g->known};

		if (g->known.state == LEDGER_NONE)
			continue;
		g->known = (struct ledger_interval){.since = ledger->now, .named = ledger->now, .p = NO_P};
		rc = ledger_report(ledger, g, &change);
	}
	for (size_t p = 0; p < ledger->nps && !rc; p++)
		rc = report_p(ledger, (int32_t)p, ledger->now);
	return rc;
}
