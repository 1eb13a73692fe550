/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ops about the whole process in wire v1 and v0: collections, stop-the-worlds, sweeps, assists, the heap. */
#include "trace/wire/state_v1.h"

static void gc_begin(struct encoder_v1 *wire, const struct op *op)
{
	if (wire->gc)
		return;
	wire->gc_p = op_v1_stream(wire, op);
	if (has_seq_v1(wire))
		EVENT(wire, wire->gc_p, V1_GC_START, wire->gc_seq++, op_v1_stack(wire, op));
	else
		EVENT(wire, wire->gc_p, V1_GC_START, op_v1_stack(wire, op));
	wire->gc = true;
}

/* Readers of v0 pair beginnings and ends per P. */
void put_v1_gc_end(struct encoder_v1 *wire, const struct op *op)
{
	if (wire->gc)
		BARE_EVENT(wire, is_v0(wire) ? wire->gc_p : op_v1_stream(wire, op), V1_GC_DONE);
	wire->gc = false;
}

enum { STW_MARK_TERMINATION = 1, STW_SWEEP_TERMINATION = 2 };

/* go 1.10 to go 1.19 have kinds 0 and 1; their readers refuse others. Earlier formats have no such event. */
static void world_v1_stw_begin(struct encoder_v1 *wire, const struct op *op)
{
	uint64_t kind = 0;

	if (wire->stw || wire->file.format < WIRE_GO110)
		return;
	for (size_t i = 0; i < V1_STW_KINDS; i++)
		if (op_v1_string_is(wire, op->string, event_v1_stw(i)))
			kind = i;
	if (wire->file.format < WIRE_GO121) {
		if (kind != STW_MARK_TERMINATION && kind != STW_SWEEP_TERMINATION)
			return;
		kind--;
	}
	EVENT(wire, op_v1_stream(wire, op), V1_STW_START, kind);
	wire->stw = true;
}

void put_v1_stw_end(struct encoder_v1 *wire, const struct op *op)
{
	if (wire->stw)
		BARE_EVENT(wire, op_v1_stream(wire, op), V1_STW_DONE);
	wire->stw = false;
}

void put_v1_sweep(struct encoder_v1 *wire, const struct op *op)
{
	bool begin = op->kind != OP_GC_SWEEP_END;

	if (op->p < 0 || p_v1_at(wire, op->p)->sweeps == begin)
		return;
	p_v1_at(wire, op->p)->sweeps = begin;
	if (begin)
		EVENT(wire, op->p, V1_GC_SWEEP_START, op_v1_stack(wire, op));
	else if (wire->file.format >= WIRE_GO19)
		EVENT(wire, op->p, V1_GC_SWEEP_DONE, op->arg, op->arg2);
	else
		BARE_EVENT(wire, op->p, V1_GC_SWEEP_DONE);
}

/* The goroutine in the assist is the one running on the P. */
static void put_assist(struct encoder_v1 *wire, const struct op *op)
{
	struct g_v1 *g = g_v1_at(wire, op->g);
	bool begin = op->kind != OP_GC_ASSIST_END;

	if (g->state != RUNNING || g->assists == begin)
		return;
	g->assists = begin;
	if (begin)
		EVENT(wire, g->p, V1_GC_MARK_ASSIST_START, op_v1_stack(wire, op));
	else
		BARE_EVENT(wire, g->p, V1_GC_MARK_ASSIST_DONE);
}

void put_v1_world(struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_STW_BEGIN:
		world_v1_stw_begin(wire, op);
		break;
	case OP_STW_END:
		put_v1_stw_end(wire, op);
		break;
	case OP_GC_ACTIVE:
	case OP_GC_BEGIN:
		gc_begin(wire, op);
		break;
	case OP_GC_END:
		put_v1_gc_end(wire, op);
		break;
	case OP_GC_SWEEP_ACTIVE ... OP_GC_SWEEP_END:
		put_v1_sweep(wire, op);
		break;
	case OP_GC_ASSIST_ACTIVE ... OP_GC_ASSIST_END:
		put_assist(wire, op);
		break;
	default:
		EVENT(wire, op_v1_stream(wire, op), op->kind == OP_HEAP_ALLOC ? V1_HEAP_ALLOC : V1_HEAP_GOAL,
		      op->arg);
	}
}
