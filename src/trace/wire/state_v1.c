/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The state of Ps and goroutines in the readers of wire v1 and v0, and the events that change it. */
#include "trace/wire/state_v1.h"

#include <string.h>

/* Above every real goroutine id, and still exact in float64. */
#define ALIAS_ID (3ull << 50)

uint32_t op_v1_stack(struct encoder_v1 *wire, const struct op *op)
{
	return op->stack ? dict_v1_stack(&wire->dict, op->stack) : 0;
}

int32_t op_v1_stream(struct encoder_v1 *wire, const struct op *op)
{
	return op->p >= 0 && p_v1_at(wire, op->p)->running ? op->p : NO_P;
}

int32_t op_v1_stream_by(struct encoder_v1 *wire, const struct op *op)
{
	int32_t p = op_v1_stream(wire, op);

	return p_v1_at(wire, p)->g == op->g ? p : NO_P;
}

static const char *encoder_v1_string_of(const struct encoder_v1 *wire, uint32_t id, size_t *len)
{
	const struct strtab *strings = wire->dict.tables->strings;

	*len = 0;
	return id && id < strtab_count(strings) ? strtab_get(strings, id, len) : "";
}

bool op_v1_string_begins(const struct encoder_v1 *wire, uint32_t id, const char *begin)
{
	size_t len;
	const char *text = encoder_v1_string_of(wire, id, &len);

	return len >= strlen(begin) && memcmp(text, begin, strlen(begin)) == 0;
}

bool op_v1_string_is(const struct encoder_v1 *wire, uint32_t id, const char *name)
{
	size_t len;

	encoder_v1_string_of(wire, id, &len);
	return id && len == strlen(name) && op_v1_string_begins(wire, id, name);
}

void proc_v1_start(struct encoder_v1 *wire, int32_t p, uint32_t m)
{
	if (p_v1_at(wire, p)->running)
		return;
	if (is_v0(wire))
		BARE_EVENT(wire, p, V1_PROC_START);
	else
		EVENT(wire, p, V1_PROC_START, m);
	p_v1_at(wire, p)->running = true;
}

void proc_v1_block(struct encoder_v1 *wire, int32_t p)
{
	struct g_v1 *g = g_v1_at(wire, p_v1_at(wire, p)->g);

	if (is_v0(wire))
		EVENT(wire, p, V1_GO_SYS_BLOCK, 0);
	else
		BARE_EVENT(wire, p, V1_GO_SYS_BLOCK);
	g->state = WAITING;
	g->in_call = false;
	p_v1_at(wire, p)->g = NO_G;
}

void proc_v1_stop(struct encoder_v1 *wire, int32_t p)
{
	if (!p_v1_at(wire, p)->running)
		return;
	if (p_v1_at(wire, p)->g != NO_G)
		proc_v1_block(wire, p);
	BARE_EVENT(wire, p, V1_PROC_STOP);
	p_v1_at(wire, p)->running = false;
}

void g_v1_create(struct encoder_v1 *wire, int32_t p, uint32_t index, uint64_t id, const struct op *op)
{
	struct g_v1 *g = g_v1_at(wire, index);
	bool timer;
	uint64_t start =
		dict_v1_start(&wire->dict, op->stack2, op->kind == OP_GO_STATUS ? op->stack : 0, &timer);
	uint32_t stack = op->kind == OP_GO_STATUS ? 0 : op_v1_stack(wire, op);

	*g = (struct g_v1){.id = id, .state = RUNNABLE, .p = NO_P};
	if (timer)
		file_v1_record(&wire->file, V1_TIMER_GOROUTINE, id);
	EVENT(wire, p, V1_GO_CREATE, id, start, stack);
	g->born = wire->file.ticks;
}

void g_v1_waits(struct encoder_v1 *wire, int32_t p, uint32_t index, bool in_call)
{
	struct g_v1 *g = g_v1_at(wire, index);

	EVENT(wire, p, in_call ? V1_GO_IN_SYSCALL : V1_GO_WAITING, g->id);
	g->state = WAITING;
	g->seq = 1;
}

void g_v1_exit_call(struct encoder_v1 *wire, uint32_t index)
{
	struct g_v1 *g = g_v1_at(wire, index);

	if (is_v0(wire)) {
		EVENT(wire, NO_P, V1_GO_SYS_EXIT, g->id);
	} else {
		uint64_t seq = has_seq_v1(wire) ? ++g->seq : wire->file.seq + 1;
		uint64_t ticks = file_v1_ticks(&wire->file, wire->now);

		if (ticks < wire->file.ticks)
			ticks = wire->file.ticks;
		EVENT(wire, NO_P, V1_GO_SYS_EXIT, g->id, seq, ticks);
	}
	g->state = RUNNABLE;
}

void g_v1_unblock(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t stack)
{
	struct g_v1 *g = g_v1_at(wire, index);

	if (g->state != WAITING)
		return;
	if (has_seq_v1(wire))
		EVENT(wire, p, V1_GO_UNBLOCK, g->id, ++g->seq, stack);
	else
		EVENT(wire, p, V1_GO_UNBLOCK, g->id, stack);
	g->state = RUNNABLE;
	g->woken = true;
}

void g_v1_start(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t label)
{
	struct g_v1 *g = g_v1_at(wire, index);

	if (label)
		EVENT(wire, p, V1_GO_START_LABEL, g->id, ++g->seq, label);
	else if (has_seq_v1(wire))
		EVENT(wire, p, V1_GO_START, g->id, ++g->seq);
	else
		EVENT(wire, p, V1_GO_START, g->id);
	g->state = RUNNING;
	g->in_call = false;
	g->p = p;
	p_v1_at(wire, p)->g = index;
}

void g_v1_leave(struct encoder_v1 *wire, int32_t p, enum event_v1_type type, uint32_t stack)
{
	struct g_v1 *g = g_v1_at(wire, p_v1_at(wire, p)->g);

	if (type == V1_GO_END)
		BARE_EVENT(wire, p, type);
	else
		EVENT(wire, p, type, stack);
	if (type == V1_GO_SCHED || type == V1_GO_PREEMPT)
		g->state = RUNNABLE;
	else
		g->state = type == V1_GO_END ? DEAD : type == V1_GO_STOP ? STOPPED : WAITING;
	g->woken = g->woken && type == V1_GO_PREEMPT;
	p_v1_at(wire, p)->g = NO_G;
}

bool g_v1_is_known(const struct g_v1 *g)
{
	return g->state == RUNNABLE || g->state == RUNNING || g->state == WAITING;
}

uint64_t g_v1_fresh_id(struct encoder_v1 *wire, uint32_t index)
{
	uint64_t id = wire->dict.tables->goids[index];
	int known = idset_add(&wire->used, id);

	if (known < 0)
		wire->file.failed = known;
	return known ? ALIAS_ID + wire->aliases++ : id;
}

void g_v1_make_known(struct encoder_v1 *wire, uint32_t index, bool waiting)
{
	static const struct op none = {.kind = OP_GO_STATUS};

	if (g_v1_is_known(g_v1_at(wire, index)))
		return;
	g_v1_create(wire, NO_P, index, g_v1_fresh_id(wire, index), &none);
	if (waiting)
		g_v1_waits(wire, NO_P, index, false);
}

void g_v1_start_here(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t label)
{
	g_v1_make_known(wire, index, false);
	if (g_v1_at(wire, index)->state == WAITING)
		g_v1_unblock(wire, NO_P, index, 0);
	if (g_v1_at(wire, index)->state == RUNNABLE && p_v1_at(wire, p)->g == NO_G)
		g_v1_start(wire, p, index, label);
}

bool g_v1_runs_here(struct encoder_v1 *wire, const struct op *op)
{
	if (op->p < 0 || op->g == NO_G)
		return false;
	if (p_v1_at(wire, op->p)->g == op->g)
		return true;
	if (p_v1_at(wire, op->p)->g != NO_G || g_v1_at(wire, op->g)->state == RUNNING)
		return false;
	proc_v1_start(wire, op->p, op->m);
	if (g_v1_at(wire, op->g)->state == WAITING)
		g_v1_exit_call(wire, op->g);
	g_v1_start_here(wire, op->p, op->g, 0);
	return p_v1_at(wire, op->p)->g == op->g;
}
