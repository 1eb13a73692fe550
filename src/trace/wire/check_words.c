/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages for violations that the automaton finds, as Go's reader words them (Go 1.26
 * src/internal/trace/order.go).
 */
#include <errno.h>
#include <inttypes.h>

#include "trace/wire/order_state.h"

const char *order_g_status_name(unsigned status)
{
	static const char *const names[] = {"Bad", "Runnable", "Running", "Syscall", "Waiting"};

	return names[status % STATUS_BAD];
}

const char *order_p_status_name(unsigned status)
{
	static const char *const names[] = {"Bad", "Running", "Idle", "Syscall", "SyscallAbandoned"};

	return names[status % STATUS_BAD];
}

static int report_missing(const struct order_step *step, const char *message)
{
	if (step->op.kind == OP_PROC_STOP)
		return BROKEN(step, "event ProcStop for proc (-1) that doesn't exist");
	return BROKEN(step, "%s", message);
}

static int no_self(const struct order_step *step, uint32_t g)
{
	int64_t id = (int64_t)order_g_id(step->order, g);
	const char *name = step->spec->name;

	switch (step->op.kind) {
	case OP_STW_BEGIN:
	case OP_STW_END:
	case OP_GC_ASSIST_BEGIN:
	case OP_GC_ASSIST_END:
		return BROKEN(step,
			      "encountered event of type %u without known state for current goroutine "
			      "%" PRIu64,
			      step->ev->type, (uint64_t)id);
	case OP_REGION_BEGIN:
	case OP_REGION_END:
		return BROKEN(step, "encountered %s without known state for current goroutine %" PRIu64, name,
			      (uint64_t)id);
	default:
		return BROKEN(step, "event %s for goroutine (%" PRId64 ") that doesn't exist", name, id);
	}
}

static int self_status(const struct order_step *step, const struct violation *violation)
{
	bool in_syscall = transitions[step->op.kind].self.from & STATUS(G_SYSCALL);

	if (violation->status == G_DEAD)
		return no_self(step, violation->g);
	return BROKEN(step, "%s event for goroutine that's not %s", step->spec->name,
		      order_g_status_name(in_syscall ? G_SYSCALL : G_RUNNING));
}

static int other_status(const struct order_step *step)
{
	uint64_t id = step->ev->args[0];

	switch (step->op.kind) {
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
		return BROKEN(step, "tried to create goroutine (%" PRIu64 ") that already exists", id);
	case OP_GO_CREATE_SYSCALL:
		return BROKEN(step, "tried to create goroutine (%" PRIu64 ") in syscall that already exists",
			      id);
	case OP_GC_ASSIST_ACTIVE:
		return BROKEN(step, "uninitialized goroutine %" PRIu64 " found during %s", id,
			      step->spec->name);
	default:
		return WAIT;
	}
}

static int p_status(const struct order_step *step, const struct violation *violation)
{
	uint64_t id = order_p_id(step->order, violation->p);
	const char *status = order_p_status_name(violation->status);

	switch (step->op.kind) {
	case OP_PROC_STOP:
		return BROKEN(step, "ProcStop event for proc that's not Running or Syscall");
	case OP_GO_DESTROY_SYSCALL:
		return BROKEN(step, "proc %" PRIu64 " in unexpected state %s during %s", id, status,
			      step->spec->name);
	case OP_SYSCALL_END:
		return BROKEN(step, "expected proc %" PRIu64 " in state Syscall, but got %s instead", id,
			      status);
	case OP_GC_SWEEP_ACTIVE:
		return BROKEN(step, "encountered GCSweepActive for unknown proc %" PRIu64, step->ev->args[0]);
	default:
		return WAIT;
	}
}

static int not_held(const struct order_step *step, const struct violation *violation)
{
	uint64_t p = step->ev->args[0], victim = step->ev->args[2];
	int64_t has = (int64_t)order_p_id(step->order, violation->p);

	if (victim == step->m)
		return BROKEN(step,
			      "tried to self-steal proc %" PRIu64 " (thread %" PRId64
			      "), but got proc %" PRId64 " instead",
			      p, (int64_t)victim, has);
	if (!violation->m)
		return BROKEN(step, "stole proc from non-existent thread %" PRId64, (int64_t)victim);
	return BROKEN(step,
		      "tried to steal proc %" PRIu64 " from thread %" PRId64 ", but got proc %" PRId64
		      " instead",
		      p, (int64_t)victim, has);
}

/* Name of the event that begins a range of this kind. */
static const char *words_range_name(unsigned kind)
{
	switch (kind) {
	case OP_STW_BEGIN:
	case OP_STW_END:
		return wire_event_name(EV_STW_BEGIN);
	case OP_GC_SWEEP_ACTIVE:
	case OP_GC_SWEEP_BEGIN:
	case OP_GC_SWEEP_END:
		return wire_event_name(EV_GC_SWEEP_BEGIN);
	default:
		return wire_event_name(EV_GC_MARK_ASSIST_BEGIN);
	}
}

static int range_state(const struct order_step *step, bool open)
{
	unsigned kind = step->op.kind;
	bool active = kind == OP_GC_SWEEP_ACTIVE || kind == OP_GC_ASSIST_ACTIVE;
	const char *name = words_range_name(kind);

	if (open && active)
		return BROKEN(step, "found named active range already in first gen: %s", name);
	if (open)
		return BROKEN(step, "discovered event already in-flight for when starting event %s", name);
	if (active)
		return BROKEN(step, "resource is missing active range: %s", name);
	return BROKEN(step, "tried to end event %s, but not in-flight", name);
}

static int gc_phase(const struct order_step *step, enum gc_phase phase)
{
	if (step->op.kind == OP_GC_BEGIN)
		return BROKEN(step, "encountered GCBegin while GC was already in progress");
	if (step->op.kind == OP_GC_ACTIVE)
		return step->order->sched.first_generation
			       ? BROKEN(step, "GCActive in the first generation isn't first GC event")
			       : BROKEN(step, "encountered GCActive while GC was not in progress");
	if (phase == GC_OFF)
		return BROKEN(step, "encountered GCEnd when GC was not in progress");
	return BROKEN(step, "encountered GCEnd when GC was in an undetermined state");
}

int order_violation(const struct order_step *step, const struct violation *violation)
{
	switch (violation->kind) {
	case VIOLATION_NO_THREAD:
		return report_missing(step, "expected a thread but didn't have one");
	case VIOLATION_NO_P:
		return report_missing(step, "expected a proc but didn't have one");
	case VIOLATION_NO_G:
		return BROKEN(step, "expected a goroutine but didn't have one");
	case VIOLATION_HAS_G:
		return BROKEN(step, "expected no goroutine but had one");
	case VIOLATION_SELF_STATUS:
		return self_status(step, violation);
	case VIOLATION_OTHER_STATUS:
		return other_status(step);
	case VIOLATION_P_STATUS:
		return p_status(step, violation);
	case VIOLATION_NOT_HELD:
		return not_held(step, violation);
	case VIOLATION_RANGE_OPEN:
	case VIOLATION_RANGE_CLOSED:
		return range_state(step, violation->kind == VIOLATION_RANGE_OPEN);
	case VIOLATION_RANGE_LIMIT:
		return BROKEN(step, "more than %d ranges are open at once", SCHED_MAX_RANGES);
	case VIOLATION_GC_PHASE:
		return gc_phase(step, violation->status);
	default: /* HAS_P, when a P starts; the other kinds occur only with sched.exact */
		return WAIT;
	}
}
