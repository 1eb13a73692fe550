/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transition table of goroutines, Ps and Ms: what each kind of op requires and changes. The rules are
 * those of Go 1.26 src/internal/trace/order.go, the strictest of Go's readers. Requirements that hold in a
 * real scheduler but are not checked by any reader are marked "exact".
 */
#ifndef GOTRACE_TRACE_OPS_TRANSITION_H
#define GOTRACE_TRACE_OPS_TRANSITION_H

#include "trace/ops/op.h"

/* Requirements on the thread of an op. */
enum op_need {
	NEED_M = 1,       /* a thread */
	NEED_P = 2,       /* it has a P */
	NEED_NO_P = 4,    /* it has no P */
	NEED_G = 8,       /* it has a goroutine */
	NEED_NO_G = 16,   /* it has no goroutine */
	NEED_G_RUNS = 32, /* exact: its goroutine is running */
	NEED_P_RUNS = 64, /* exact: its P is running */
	NEED_USER = NEED_M | NEED_P | NEED_G,
	NEED_RUNNING = NEED_USER | NEED_G_RUNS | NEED_P_RUNS,
};

/* A set of statuses of goroutines or Ps. */
#define STATUS(status) (uint8_t)(1u << (status))

enum { STATUS_KEPT = 0xff }; /* status_change.to: the status does not change */

/* An object's status before and after an op. */
struct status_change {
	uint8_t from; /* the set of allowed statuses; 0: the op does not concern the object */
	uint8_t to;   /* enum g_status or p_status, or STATUS_KEPT */
};

/* Which P an op is about. */
enum p_role {
	P_OF_THREAD, /* the P of the op's thread; without one, nothing is checked or changed */
	P_NAMED,     /* op.p, which the thread takes (OP_PROC_START) or takes away (OP_PROC_STEAL) */
};

struct transition {
	uint8_t needs;              /* enum op_need */
	uint8_t p_role;             /* enum p_role */
	struct status_change self;  /* the goroutine of the op's thread */
	struct status_change other; /* the goroutine that the op names: op_other() */
	struct status_change p;
};

extern const struct transition transitions[OP_KIND_COUNT];

/* Whether op.g holds the goroutine that the op names: the op has no "self", or names it. */
static inline bool op_names_g(enum op_kind kind)
{
	return kind == OP_GO_START || kind == OP_GO_CREATE_SYSCALL || kind == OP_GO_STATUS ||
	       kind == OP_GC_ASSIST_ACTIVE;
}

/* The goroutine that the op creates, starts, wakes or switches to, or whose status it states; or NO_G. */
static inline uint32_t op_other(const struct op *op)
{
	return op_names_g(op->kind) ? op->g : op->g2;
}

static inline void op_set_other(struct op *op, uint32_t g)
{
	*(op_names_g(op->kind) ? &op->g : &op->g2) = g;
}

/*
 * Whether a reader first checks what another thread must have done before this op. A reader of concurrent
 * threads then waits for that thread and checks the rest of the op later. For a coroutine switch, Go's reader
 * checks the op's own goroutine first.
 */
static inline bool op_waits_first(enum op_kind kind)
{
	return OP_WAITS_FOR_ANOTHER >> kind & 1 && kind != OP_GO_SWITCH && kind != OP_GO_SWITCH_DESTROY;
}

static inline bool op_is_creation(enum op_kind kind)
{
	return transitions[kind].other.from == STATUS(G_DEAD);
}

/* A goroutine's status change, for code that follows ops known to be valid. */
struct g_change {
	uint32_t g;
	uint8_t status; /* enum g_status after the op */
	bool appears; /* it is created, or its status is stated; in the latter case it may be known already */
};

/* The changes of one op, at most two, in order. Returns their number. */
static inline unsigned op_changes(const struct op *op, struct g_change changes[2])
{
	const struct transition *t = &transitions[op->kind];
	unsigned n = 0;

	if (op->kind == OP_GO_STATUS)
		changes[n++] = (struct g_change){op->g, op->status, true};
	if (t->self.from && t->self.to != STATUS_KEPT)
		changes[n++] = (struct g_change){op->g, t->self.to, false};
	if (t->other.from)
		changes[n++] = (struct g_change){op_other(op), t->other.to, op_is_creation(op->kind)};
	return n;
}

/* For users: "runnable", "in a system call". */
const char *g_status_name(unsigned status);
const char *p_status_name(unsigned status);

#endif
