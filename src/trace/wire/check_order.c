/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks every event against the state. Each event is decoded to an op, which the automaton of sched checks.
 * This file adds the format's ids and sequence numbers, which decide whether an event must wait. The rules
 * are those of Go 1.26 src/internal/trace/order.go, the strictest reader.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "trace/wire/buffer.h"
#include "trace/wire/order_state.h"

/* --- event to op --- */

static int take_new_g(struct order_step *step, uint64_t id)
{
	uint32_t g;

	if (order_make_g(step->order, id, &g))
		return -ENOMEM;
	op_set_other(&step->op, g);
	return 0;
}

/* A status may introduce a P. */
static int order_step_take_p(struct order_step *step, uint64_t id)
{
	step->op.p = order_find_p(step->order, id);
	if (step->op.p == NO_P && step->op.kind == OP_PROC_STATUS)
		return order_make_p(step->order, id, &step->op.p);
	return 0;
}

static int order_step_take_arg(struct order_step *step, const struct event_arg *arg, uint64_t value)
{
	switch (arg->role) {
	case ARG_NEW_G:
		return take_new_g(step, value);
	case ARG_G:
		if (step->op.kind == OP_GO_STATUS)
			return take_new_g(step, value);
		op_set_other(&step->op, order_find_g(step->order, value));
		return 0;
	case ARG_P:
		return order_step_take_p(step, value);
	case ARG_M:
		step->op.m2 = order_find_m(step->order, value);
		return 0;
	case ARG_SEQ:
		step->seq = value;
		return 0;
	case ARG_STATUS:
		step->status = value;
		return 0;
	case ARG_STRING: /* kind of a stop-the-world; readers compare all 64 bits */
		step->op.string = (uint32_t)value;
		step->op.arg = value >> 32;
		return 0;
	default:
		return 0;
	}
}

static int order_step_decode(struct order_step *step, uint32_t *thread, const struct event *ev)
{
	int ret = 0;

	/* A thread exists as soon as its first event is tried. */
	if (!*thread)
		ret = order_thread(step->order, step->m, thread);
	step->op = (struct op){.kind = step->spec->op, .p = NO_P, .m = *thread};
	for (unsigned i = 0; i < step->spec->nargs && !ret; i++)
		ret = order_step_take_arg(step, &step->spec->args[i], ev->args[i]);
	return ret;
}

/* --- sequence numbers --- */

/*
 * Returns the sequence of the event's goroutine or P, or NULL if the event has no sequence number, belongs to
 * the collector's sequence, or names an unknown object.
 */
static struct sequence_number *sequence_of(const struct order_step *step)
{
	struct order *order = step->order;
	int32_t p = step->op.kind == OP_SYSCALL_BEGIN ? order->sched.ms[step->op.m].p : step->op.p;
	uint32_t g = op_other(&step->op);

	switch (step->op.kind) {
	case OP_PROC_START:
	case OP_PROC_STEAL:
	case OP_SYSCALL_BEGIN:
		return p != NO_P ? &order->ps[p].seq : NULL;
	case OP_GO_START:
	case OP_GO_UNBLOCK:
	case OP_GO_SWITCH:
	case OP_GO_SWITCH_DESTROY:
		return g ? &order->gs[g].seq : NULL;
	default:
		return NULL;
	}
}

static bool is_next(const struct order_step *step, const struct sequence_number *seq)
{
	return !seq || (step->chunk->number == seq->gen && step->seq == seq->n + 1);
}

/* The first collection event of a trace may have any sequence number. */
static bool is_next_of_gc(const struct order_step *step)
{
	const struct sched *sched = &step->order->sched;

	switch (step->op.kind) {
	case OP_GC_ACTIVE:
		return sched->first_generation || step->seq == step->order->gc_seq + 1;
	case OP_GC_BEGIN:
		return sched->gc == GC_UNKNOWN || step->seq == step->order->gc_seq + 1;
	case OP_GC_END:
		return step->seq == step->order->gc_seq + 1;
	default:
		return true;
	}
}

/* Only the sequence number is wrong. The event waits for earlier ones; for SyscallBegin this is a fault. */
static int out_of_sequence(const struct order_step *step, const struct sequence_number *seq)
{
	if (step->op.kind != OP_SYSCALL_BEGIN)
		return WAIT;
	return BROKEN(step,
		      "failed to advance %s: can't make sequence: %" PRIu64 " (gen=%" PRIu64 ") -> %" PRIu64
		      " (gen=%" PRIu64 ")",
		      step->spec->name, seq->n, seq->gen, step->seq, step->chunk->number);
}

/* --- whole events --- */

static bool is_gc(unsigned kind)
{
	return kind == OP_GC_ACTIVE || kind == OP_GC_BEGIN || kind == OP_GC_END;
}

static int apply(struct order_step *step, struct sequence_number *seq)
{
	struct order *order = step->order;
	const struct sequence_number now = {step->chunk->number, step->seq};

	if (sched_apply(&order->sched, &step->op))
		return -ENOMEM;
	if (seq)
		*seq = now;
	if (is_gc(step->op.kind))
		order->gc_seq = step->seq;
	if (op_is_creation(step->op.kind))
		order_g_appears(step, op_other(&step->op));
	return ADVANCE;
}

/*
 * An event that waits for another thread is not checked until its sequence number is due. A coroutine switch
 * checks its own goroutine first.
 */
static int advance_op(struct order_step *step)
{
	struct sequence_number *seq = sequence_of(step);
	bool next = is_next(step, seq);
	struct violation violation;

	if (!is_next_of_gc(step) || (!next && op_waits_first(step->op.kind)))
		return WAIT;
	if (!sched_check(&step->order->sched, &step->op, &violation))
		return order_violation(step, &violation);
	if (!next)
		return out_of_sequence(step, seq);
	return apply(step, seq);
}

/* Events that have no op. */
static int advance_other(struct order_step *step)
{
	struct violation violation;

	if (step->ev->type < EV_SPAN)
		return BROKEN(step, "bad event type found while ordering: %u", step->ev->type);
	if (!sched_check_needs(&step->order->sched, step->op.m, NEED_M, &violation))
		return order_violation(step, &violation);
	return ADVANCE;
}

static int order_step_advance(struct order_step *step)
{
	switch (step->op.kind) {
	case OP_NONE:
		return advance_other(step);
	case OP_PROC_STATUS:
		return order_p_status(step);
	case OP_GO_STATUS:
		return order_g_status(step);
	case OP_TASK_BEGIN ... OP_REGION_END:
		return order_annotation(step);
	default:
		return advance_op(step);
	}
}

int order_advance(struct order *order, const struct chunk *chunk, uint64_t m, uint32_t *thread,
		  const struct event *ev, struct fault *fault)
{
	struct order_step step; /* set field by field: zeroing it all costs a tenth of the reader's time */

	step.order = order;
	step.chunk = chunk;
	step.ev = ev;
	step.spec = event_spec(ev->type);
	step.fault = fault;
	step.m = m;
	step.seq = step.status = 0;
	if (order->initial_gen == 0)
		order->initial_gen = chunk->number;
	order->sched.first_generation = chunk->number == order->initial_gen;
	if (order_step_decode(&step, thread, ev))
		return -ENOMEM;
	return order_step_advance(&step);
}

void order_holds(const struct order *order, uint32_t thread, uint64_t *p, uint64_t *g)
{
	const struct sched_m *held = &order->sched.ms[thread];

	*p = order_p_id(order, held->p);
	*g = order_g_id(order, held->g);
}

size_t order_threads(const struct order *order)
{
	return order->nms - 1;
}

int order_init(struct order *order)
{
	*order = (struct order){.ngs = 1, .nms = 1};
	if (sched_fit_gs(&order->sched, 1) || sched_fit_ms(&order->sched, 1) ||
	    array_grow((void **)&order->gs, &order->g_capacity, 1, sizeof(*order->gs)))
		return -ENOMEM;
	return 0;
}

void order_free(struct order *order)
{
	for (size_t i = 0; i < order->g_capacity; i++)
		free(order->gs[i].regions);
	sched_free(&order->sched);
	free(order->gs);
	free(order->ps);
	free(order->m_ids);
	map64_free(&order->g_index);
	map64_free(&order->p_index);
	map64_free(&order->m_index);
	map64_free(&order->tasks);
	*order = (struct order){0};
}
