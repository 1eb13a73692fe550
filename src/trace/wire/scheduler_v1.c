/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Scheduler ops in wire v1 and v0: goroutines, system calls, Ps. */
#include "trace/wire/state_v1.h"

#include <errno.h>
#include <string.h>

/* Block reasons of threads, mapped to the closest event type. Those of all other locks begin "sync (". */
static const char thread_condition[] = "sync (condition)", thread_sync[] = "sync (";

/* Reasons without a specific event in this format are written as GoBlock. */
static enum event_v1_type block_type(const struct encoder_v1 *wire, uint32_t reason)
{
	for (unsigned type = 0; type < V1_EVENT_COUNT; type++) {
		const struct event_v1_spec *spec = event_v1_spec(type, wire->file.format);

		if (spec && spec->op == OP_GO_BLOCK && op_v1_string_is(wire, reason, spec->reason))
			return (enum event_v1_type)type;
	}
	if (op_v1_string_is(wire, reason, thread_condition))
		return V1_GO_BLOCK_COND;
	if (op_v1_string_begins(wire, reason, thread_sync))
		return V1_GO_BLOCK_SYNC;
	return V1_GO_BLOCK;
}

static enum event_v1_type leaving_type(const struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_GO_DESTROY:
	case OP_GO_SWITCH_DESTROY:
		return V1_GO_END;
	case OP_GO_STOP:
		return op_v1_string_is(wire, op->string, "preempted") ? V1_GO_PREEMPT : V1_GO_SCHED;
	case OP_GO_BLOCK:
		return block_type(wire, op->string);
	default:
		return V1_GO_BLOCK;
	}
}

/*
 * Returns true if futile wake-ups are marked in this format: readers then remove the wake-up and the start.
 * v0 has no such event, and current readers of go 1.11 refuse it.
 */
static bool marks_futile(const struct encoder_v1 *wire)
{
	return wire->file.format >= WIRE_GO15 && wire->file.format < WIRE_GO111;
}

/* A coroutine switch is written as a wake-up, a block or an end, and a start. */
static void put_leaving(struct encoder_v1 *wire, const struct op *op)
{
	bool to_other = op->kind == OP_GO_SWITCH || op->kind == OP_GO_SWITCH_DESTROY;

	if (!g_v1_runs_here(wire, op))
		return;
	if (to_other) {
		g_v1_make_known(wire, op->g2, true);
		g_v1_unblock(wire, op->p, op->g2, 0);
	}
	if (op->kind == OP_GO_BLOCK && op->arg && g_v1_at(wire, op->g)->woken && marks_futile(wire))
		BARE_EVENT(wire, op->p, V1_FUTILE_WAKEUP);
	g_v1_leave(wire, op->p, leaving_type(wire, op), op_v1_stack(wire, op));
	if (to_other)
		g_v1_start_here(wire, op->p, op->g2, 0);
}

/* In the ops, the label of a mark worker follows its start; in these formats, the start contains it. */
static uint32_t label_of(struct encoder_v1 *wire, const struct op *start)
{
	const struct op *end = wire->gen->ops + wire->gen->nops;

	if (!wire->labels || !event_v1_spec(V1_GO_START_LABEL, wire->file.format))
		return 0;
	for (const struct op *op = start + 1; op < end; op++)
		if (op->m == start->m && op->kind != OP_CPU_SAMPLE && op->kind != OP_NONE)
			return op->kind == OP_GO_LABEL && op->g == start->g
				       ? dict_v1_string(&wire->dict, op->string)
				       : 0;
	return 0;
}

static void put_create(struct encoder_v1 *wire, const struct op *op)
{
	g_v1_create(wire, op_v1_stream_by(wire, op), op->g2, g_v1_fresh_id(wire, op->g2), op);
}

/* Removes the goroutine from the parked ones. Returns false if it is not parked. */
static bool unpark(struct encoder_v1 *wire, uint64_t goid, struct parked *parked)
{
	const uint32_t *found = goid ? map64_get(&wire->parked_by_goid, goid) : NULL;
	uint32_t index;

	if (!found)
		return false;
	index = *found;
	*parked = wire->parked[index];
	map64_del(&wire->parked_by_goid, goid);
	wire->parked[index] = wire->parked[--wire->nparked];
	if (index < wire->nparked && map64_set(&wire->parked_by_goid, wire->parked[index].goid, index))
		wire->file.failed = -ENOMEM;
	return true;
}

static void park(struct encoder_v1 *wire, uint64_t goid, const struct g_v1 *g)
{
	if (!goid || map64_get(&wire->parked_by_goid, goid))
		return;
	if (array_grow((void **)&wire->parked, &wire->parked_capacity, wire->nparked + 1,
		       sizeof(*wire->parked)) ||
	    map64_set(&wire->parked_by_goid, goid, (uint32_t)wire->nparked)) {
		wire->file.failed = -ENOMEM;
		return;
	}
	wire->parked[wire->nparked++] = (struct parked){goid, g->id, g->seq};
}

/* A C thread calls into Go, possibly not for the first time. */
static void put_create_syscall(struct encoder_v1 *wire, const struct op *op)
{
	struct parked parked;

	if (unpark(wire, wire->dict.tables->goids[op->g], &parked)) {
		*g_v1_at(wire, op->g) =
			(struct g_v1){.id = parked.id, .state = WAITING, .seq = parked.seq, .p = NO_P};
		return;
	}
	g_v1_create(wire, NO_P, op->g, g_v1_fresh_id(wire, op->g), op);
	g_v1_waits(wire, NO_P, op->g, true);
}

static void put_destroy_syscall(struct encoder_v1 *wire, const struct op *op)
{
	struct g_v1 *g = g_v1_at(wire, op->g);

	if (g->state == RUNNING)
		proc_v1_block(wire, g->p);
	if (g->state == WAITING)
		park(wire, wire->dict.tables->goids[op->g], g);
	g->state = DEAD;
}

void put_v1_scheduler(struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_GO_CREATE:
	/* Runnable in the file, so that it needs no wake-up before its first start. */
	case OP_GO_CREATE_BLOCKED:
		put_create(wire, op);
		break;
	case OP_GO_CREATE_SYSCALL:
		put_create_syscall(wire, op);
		break;
	case OP_GO_START:
		proc_v1_start(wire, op->p, op->m);
		g_v1_start_here(wire, op->p, op->g, label_of(wire, op));
		break;
	case OP_GO_DESTROY_SYSCALL:
		put_destroy_syscall(wire, op);
		break;
	case OP_GO_UNBLOCK:
		if (g_v1_at(wire, op->g2)->state == STOPPED)
			g_v1_make_known(wire, op->g2, true);
		g_v1_unblock(wire, op_v1_stream_by(wire, op), op->g2, op_v1_stack(wire, op));
		break;
	default:
		put_leaving(wire, op);
	}
}

void put_v1_syscall(struct encoder_v1 *wire, const struct op *op)
{
	struct g_v1 *g = g_v1_at(wire, op->g);

	switch (op->kind) {
	case OP_SYSCALL_BEGIN:
		if (!g_v1_runs_here(wire, op))
			break;
		EVENT(wire, op->p, V1_GO_SYSCALL, op_v1_stack(wire, op));
		g->in_call = true;
		break;
	case OP_SYSCALL_END:
		if (g_v1_runs_here(wire, op))
			g->in_call = false;
		break;
	default:
		if (g->state == RUNNING)
			proc_v1_block(wire, g->p);
		if (g->state == WAITING)
			g_v1_exit_call(wire, op->g);
	}
}

void put_v1_proc(struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_PROC_STATUS:
		if (op->status != P_IDLE)
			proc_v1_start(wire, op->p, op->m);
		break;
	case OP_PROC_START:
		proc_v1_start(wire, op->p, op->m);
		break;
	/*
	 * If a thread returning from a system call takes the P of another call, Go's own traces contain no
	 * stop and start of that P (exitsyscallfast_reacquired, Go 1.21 runtime/proc.go). Viewers from Go
	 * 1.22 on then show the other call on the P until the P's next stop, and may panic there
	 * (cmd/trace/procgen.go). The stop is therefore written here.
	 */
	case OP_PROC_STEAL:
	case OP_PROC_STOP:
		proc_v1_stop(wire, op->p);
		break;
	default:
		/* The first Gomaxprocs is written with the statuses. An op without a stack repeats it. */
		if (op->arg != wire->procs || (op->stack && wire->procs_gen) ||
		    wire->procs_gen == wire->gen->number)
			EVENT(wire, op_v1_stream_by(wire, op), V1_GOMAXPROCS, op->arg, op_v1_stack(wire, op));
		wire->procs = op->arg;
		wire->procs_gen = wire->gen->number;
	}
}
