/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The scheduler's ops in wire v1 and v0: goroutines, system calls, Ps. */
#include "wire/state_v1.h"

#include <errno.h>
#include <string.h>

struct block_reason {
	const char *text; /* Go 1.26 src/runtime/traceruntime.go, traceBlockReasonStrings */
	enum event_v1_type type;
};

static const struct block_reason block_reasons[] = {
	{"forever", V1_GO_STOP},
	{"network", V1_GO_BLOCK_NET},
	{"select", V1_GO_BLOCK_SELECT},
	{"sync.(*Cond).Wait", V1_GO_BLOCK_COND},
	{"sync", V1_GO_BLOCK_SYNC},
	{"chan send", V1_GO_BLOCK_SEND},
	{"chan receive", V1_GO_BLOCK_RECV},
	{"GC mark assist wait for work", V1_GO_BLOCK_GC},
	{"sleep", V1_GO_SLEEP},
	{"sync (condition)", V1_GO_BLOCK_COND}, /* of threads, as those below: the nearest type */
};

static const char thread_sync[] = "sync ("; /* any lock of threads */

/* Reasons without an event of their own, in this format or in all, are the general one. */
static enum event_v1_type block_type(const struct encoder_v1 *wire, uint32_t reason)
{
	for (size_t i = 0; i < COUNT(block_reasons); i++)
		if (op_v1_string_is(wire, reason, block_reasons[i].text) &&
		    event_v1_spec(block_reasons[i].type, wire->file.format))
			return block_reasons[i].type;
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
 * That the goroutine had woken in vain: readers take its wake-up and its starts out. v0 has no such event,
 * and what reads go 1.11 today refuses it.
 */
static bool tells_futile(const struct encoder_v1 *wire)
{
	return wire->file.format >= WIRE_GO15 && wire->file.format < WIRE_GO111;
}

/* A switch of coroutines is what it is for the scheduler: a wake-up, a block or an end, a start. */
static void put_leaving(struct encoder_v1 *wire, const struct op *op)
{
	bool to_other = op->kind == OP_GO_SWITCH || op->kind == OP_GO_SWITCH_DESTROY;

	if (!g_v1_runs_here(wire, op))
		return;
	if (to_other) {
		g_v1_make_known(wire, op->g2, true);
		g_v1_unblock(wire, op->p, op->g2, 0);
	}
	if (op->kind == OP_GO_BLOCK && op->arg && g_v1_at(wire, op->g)->woken && tells_futile(wire))
		BARE_EVENT(wire, op->p, V1_FUTILE_WAKEUP);
	g_v1_leave(wire, op->p, leaving_type(wire, op), op_v1_stack(wire, op));
	if (to_other)
		g_v1_start_here(wire, op->p, op->g2, 0);
}

/* The mark workers' label comes behind their start, and is part of it in these formats. */
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

/* Takes it out of the list; false if it is not there. */
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

/* Born in a system call: a C thread calls into Go, maybe not for the first time. */
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
	case OP_GO_CREATE_BLOCKED: /* runnable in the file: it is not woken before it first runs */
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
	 * The end of a call that takes a P out of another one's call and goes on with it tells no stop and
	 * start of the P in Go's own traces (exitsyscallfast_reacquired, Go 1.21 runtime/proc.go): then
	 * viewers from Go 1.22 on have the other call on that P until its next stop, and may panic there
	 * (cmd/trace/procgen.go).
	 */
	case OP_PROC_STEAL:
	case OP_PROC_STOP:
		proc_v1_stop(wire, op->p);
		break;
	default:
		/* The start has told of the first one; what tells no stack says the same again. */
		if (op->arg != wire->procs || (op->stack && wire->procs_gen) ||
		    wire->procs_gen == wire->gen->number)
			EVENT(wire, op_v1_stream_by(wire, op), V1_GOMAXPROCS, op->arg, op_v1_stack(wire, op));
		wire->procs = op->arg;
		wire->procs_gen = wire->gen->number;
	}
}
