/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/ledger/ledger.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/ops/gap_log.h"
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

/* The goroutine's state changes to change->to. change->was is set here. */
static int enter(struct ledger *ledger, struct ledger_g *g, struct ledger_change *change)
{
	change->was = g->known;
	g->known = change->to;
	if (!ledger->observer.change)
		return 0;
	change->g = (uint32_t)(g - ledger->gs);
	if (!ledger->unwatched) {
		change->from = watched_part(ledger, change->was);
	} else if (change->was.state == LEDGER_NONE) {
		change->from = change->was;
		change->to = unwatched_part(ledger, g);
	} else if (change->to.state == LEDGER_NONE) {
		change->from = unwatched_part(ledger, g);
	} else {
		change->from = change->was;
		change->hidden = true;
	}
	return ledger->observer.change(ledger->observer.ctx, change);
}

static uint32_t index_if_alive(const struct ledger *ledger, uint32_t g)
{
	return ledger_alive(ledger, g) ? g : NO_G;
}

/* Begins a life. */
static int appear(struct ledger *ledger, uint32_t index, uint32_t entry, uint32_t own_stack,
		  struct ledger_change *change)
{
	const struct tables *tables = ledger->tables;
	struct ledger_g *g;

	if (index >= MAX_LEDGER_GS ||
	    array_grow(&ledger->gs, &ledger->ngs, (size_t)index + 1, sizeof(*ledger->gs)))
		return -ENOMEM;
	g = &ledger->gs[index];
	*g = (struct ledger_g){
		.known.p = NO_P,
		.appeared = change->time,
		.goid = tables && index < tables->ngoroutines ? tables->goids[index] : 0,
		.entry = entry,
		.own_stack = own_stack,
	};
	return enter(ledger, g, change);
}

static int state_g(struct ledger *ledger, const struct op *op)
{
	bool held = op->status == G_RUNNING || op->status == G_SYSCALL;
	struct ledger_change change = {
		.time = op->time,
		.op = op,
		.to = {.since = op->time,
		       .named = op->arg > op->time ? op->arg : op->time,
		       .reason = op->string,
		       .stack = op->stack,
		       .m = op->m,
		       .p = held ? ledger_p_of(ledger, op->m) : NO_P,
		       .state = op->status,
		       .before = true},
	};

	if (!op->g || ledger_alive(ledger, op->g))
		return 0;
	return appear(ledger, op->g, op->stack2, op->stack, &change);
}

/* The state that an op leads to. */
static struct ledger_interval interval_after(const struct op *op, uint8_t state, uint64_t time)
{
	bool held = state == G_RUNNING || state == G_SYSCALL;

	return (struct ledger_interval){
		.since = time,
		.named = time,
		.reason = op->kind == OP_GO_BLOCK || op->kind == OP_GO_STOP ? op->string : 0,
		.stack = op->stack,
		.m = held ? op->m : NO_M,
		.p = held ? op->p : NO_P,
		.state = state,
		.others = op_is_creation(op->kind),
	};
}

static int create(struct ledger *ledger, const struct op *op, uint8_t state)
{
	struct ledger_change change = {.time = op->time, .op = op, .to = interval_after(op, state, op->time)};

	/* A thread's goroutine that appears in a system call has no creator. */
	change.by = op->g != op_other(op) ? index_if_alive(ledger, op->g) : NO_G;
	return op_other(op) ? appear(ledger, op_other(op), op->stack2, 0, &change) : 0;
}

/* A goroutine that exists goes on to another state. */
static int move(struct ledger *ledger, uint32_t index, struct ledger_change change)
{
	struct ledger_g *g = index < ledger->ngs ? &ledger->gs[index] : NULL;

	return g && g->known.state != LEDGER_NONE ? enter(ledger, g, &change) : 0;
}

/* The op's own goroutine leaves its state. */
static int leave(struct ledger *ledger, const struct op *op, uint8_t state, uint64_t time)
{
	if (op->stack && op->g < ledger->ngs)
		ledger->gs[op->g].own_stack = op->stack;
	return move(ledger, op->g,
		    (struct ledger_change){.time = time, .op = op, .to = interval_after(op, state, time)});
}

static int wake(struct ledger *ledger, const struct op *op)
{
	struct ledger_change change = {.time = op->time,
				       .op = op,
				       .by = index_if_alive(ledger, op->g),
				       .wakes = true,
				       .to = interval_after(op, G_RUNNABLE, op->time)};

	change.to.others = true;
	return move(ledger, op->g2, change);
}

static int start(struct ledger *ledger, const struct op *op, uint32_t g, uint64_t time)
{
	struct ledger_change change = {.time = time, .op = op, .to = interval_after(op, G_RUNNING, time)};

	change.to.stack = 0;
	return move(ledger, g, change);
}

/* Three steps, 1 ns apart, as in Go's readers: g2 is woken, g waits or ends, g2 runs. */
static int switch_to(struct ledger *ledger, const struct op *op, uint8_t state)
{
	int rc = wake(ledger, op);

	if (!rc)
		rc = leave(ledger, op, state, op->time + 1);
	return rc ? rc : start(ledger, op, op->g2, op->time + 2);
}

static int move_gs(struct ledger *ledger, const struct op *op, const struct transition *t)
{
	if (op_is_creation(op->kind))
		return create(ledger, op, t->other.to);
	if (t->other.from && t->self.from)
		return switch_to(ledger, op, t->self.to);
	if (t->other.from)
		return t->other.to == G_RUNNING ? start(ledger, op, op->g, op->time) : wake(ledger, op);
	return t->self.from && t->self.to != STATUS_KEPT ? leave(ledger, op, t->self.to, op->time) : 0;
}

/* --- Ps --- */

/* m: the thread that has it from here on, or NO_M. */
static int set_p(struct ledger *ledger, int32_t p, unsigned status, uint32_t m, uint64_t time)
{
	struct ledger_p *of;

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
	*of = (struct ledger_p){.since = time, .m = m, .status = (uint8_t)status};
	return 0;
}

static int move_p(struct ledger *ledger, const struct op *op, uint8_t status)
{
	bool kept = status == P_SYSCALL || op->kind == OP_SYSCALL_END;

	/* In a system call a P changes its status, but not its thread. */
	if (kept && op->p >= 0 && (size_t)op->p < ledger->nps) {
		ledger->ps[op->p].status = status;
		ledger->ps[op->p].since = op->time;
	}
	return kept ? 0 : set_p(ledger, op->p, status, status == P_RUNNING ? op->m : NO_M, op->time);
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

		if (g->known.state == LEDGER_NONE)
			continue;
		change.from = begins ? watched_part(ledger, g->known) : unwatched_part(ledger, g);
		change.to = begins ? unwatched_part(ledger, g) : g->known;
		change.to.since = change.to.named = time;
		rc = observer->change(observer->ctx, &change);
	}
	return observer->gap && !rc ? observer->gap(observer->ctx, time, begins) : rc;
}

static int read_log(struct ledger *ledger, const struct op *op)
{
	size_t category_len, len;
	const char *category, *text;
	enum gap_log kind;

	if (!ledger->tables)
		return 0;
	category = tables_string(ledger->tables, op->string, &category_len);
	text = tables_string(ledger->tables, op->string2, &len);
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
		return read_log(ledger, op);
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

	for (size_t i = 1; i < ledger->ngs && !rc; i++) {
		struct ledger_change change = {.time = ledger->now, .final = true};

		change.to = (struct ledger_interval){.since = ledger->now, .named = ledger->now, .p = NO_P};
		rc = move(ledger, (uint32_t)i, change);
	}
	return rc;
}
