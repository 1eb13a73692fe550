/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Steps: completes, dates and appends an op that the automaton accepts. The automaton runs in exact mode: it
 * enforces the rules of Go's reader and those of a real machine (a thread runs at most one goroutine).
 */
#include <errno.h>

#include "trace/convert/builder.h"
#include "trace/wire/buffer.h"

#define BROKEN(b, ...) error_set((b)->err, EBADMSG, __VA_ARGS__)

/* --- violations as messages --- */

static unsigned long long steps_goid(const struct builder *b, uint32_t g)
{
	return b->goids[g];
}

static int broken_thread(struct builder *b, const char *what, const struct violation *v)
{
	uint32_t tid = b->threads[v->m].tid;

	switch (v->kind) {
	case VIOLATION_NO_THREAD:
		return BROKEN(b, "%s without a thread", what);
	case VIOLATION_NO_P:
		return BROKEN(b, "%s on thread %u, which has no P", what, tid);
	case VIOLATION_HAS_P:
		return BROKEN(b, "%s on thread %u, which has P %d", what, tid, v->p);
	case VIOLATION_NO_G:
		return BROKEN(b, "%s on thread %u, which has no goroutine", what, tid);
	default:
		return BROKEN(b, "%s on thread %u, which has goroutine %llu", what, tid, steps_goid(b, v->g));
	}
}

static int broken_range(struct builder *b, const char *what, const struct violation *v)
{
	switch (v->kind) {
	case VIOLATION_RANGE_OPEN:
		return BROKEN(b, "%s, but it has already begun", what);
	case VIOLATION_RANGE_LIMIT:
		return BROKEN(b, "%s, but goroutine %llu already has %d open ranges", what,
			      steps_goid(b, v->g), SCHED_MAX_RANGES);
	default:
		return BROKEN(b, "%s, but it has not begun", what);
	}
}

static int broken(struct builder *b, const struct op *op, const struct violation *v)
{
	const char *what = op_name(op->kind);

	switch (v->kind) {
	case VIOLATION_NO_THREAD ... VIOLATION_HAS_G:
		return broken_thread(b, what, v);
	case VIOLATION_G_NOT_RUNNING:
	case VIOLATION_SELF_STATUS:
	case VIOLATION_OTHER_STATUS:
		return BROKEN(b, "%s of goroutine %llu, which is %s", what, steps_goid(b, v->g),
			      g_status_name(v->status));
	case VIOLATION_P_NOT_RUNNING:
	case VIOLATION_P_STATUS:
		return BROKEN(b, "%s on P %d, which is %s", what, v->p, p_status_name(v->status));
	case VIOLATION_NOT_HELD:
		return BROKEN(b, "%s of P %d from thread %u, which does not have it", what, op->p,
			      b->threads[op->m2].tid);
	case VIOLATION_GC_PHASE:
		return BROKEN(b, "%s out of place", what);
	default:
		return broken_range(b, what, v);
	}
}

/* --- effects --- */

static int steps_no_memory(struct builder *b)
{
	return error_set(b->err, ENOMEM, "out of memory");
}

/* Records facts that later statuses in the file are checked against (builder_add_g_status). */
static void note_thread(struct builder *b, const struct op *op, bool had_g)
{
	struct built_thread *thread = &b->threads[op->m];
	const struct sched_m *held = &b->sched.ms[op->m];
	bool leaves_call = op->kind == OP_SYSCALL_END_BLOCKED || op->kind == OP_GO_DESTROY_SYSCALL;

	thread->had_g |= held->g != NO_G;
	thread->had_p |= held->p != NO_P;
	thread->missing_g |= op_is_creation(op->kind) && !had_g;
	thread->missing_p |= leaves_call && op->p == NO_P;
}

static int steps_end_life(struct builder *b, uint32_t g)
{
	if (array_grow((void **)&b->ended, &b->ended_capacity, b->nended + 1, sizeof(*b->ended)))
		return -ENOMEM;
	b->ended[b->nended++] = g;
	b->lives[g] = (struct g_life){.goid = b->lives[g].goid};
	return 0;
}

static int note_goroutines(struct builder *b, const struct op *op)
{
	struct g_change changes[2];
	unsigned n = op_changes(op, changes);

	for (unsigned i = 0; i < n; i++) {
		b->lives[changes[i].g].birth_at = 0;
		if (changes[i].status == G_DEAD && steps_end_life(b, changes[i].g))
			return -ENOMEM;
	}
	if (op->kind == OP_GC_ASSIST_BEGIN || op->kind == OP_GC_ASSIST_END)
		b->lives[op->g].assisted = true;
	return 0;
}

/* --- time --- */

/* Fills in the goroutine and the P of the thread if the caller has not set them. */
static void complete(const struct builder *b, struct op *op)
{
	const struct sched_m *held = &b->sched.ms[op->m];

	if (!op->g && op->kind != OP_GO_CREATE_SYSCALL)
		op->g = held->g;
	if (op->p == NO_P)
		op->p = held->p;
}

/* Returns the start of the time unit that follows t's. */
static uint64_t next_unit(uint64_t t)
{
	return (t / OP_UNIT_NS + 1) * OP_UNIT_NS;
}

/* Returns true if the op creates an object with the id of one that ended: only time orders the two. */
static bool reuses_name(const struct builder *b, const struct op *op)
{
	if (op_is_creation(op->kind))
		return b->lives[op_other(op)].reborn;
	return op->kind == OP_TASK_BEGIN && map64_find(&b->task_ends, op->arg) == b->generation;
}

uint64_t builder_date(struct builder *b, uint64_t time, const struct op *op, uint32_t m)
{
	uint64_t least;

	if (b->sink.source_times)
		return time > b->last ? time : b->last + 1;
	b->spacing.last = b->last;
	least = op_earliest(&b->spacing, op->kind, m);
	if (time < least)
		time = least;
	if (reuses_name(b, op) && time < next_unit(b->last_end))
		time = next_unit(b->last_end);
	op_dated(&b->spacing, m, time);
	return time;
}

/* Readers date events with equal times 1 ns apart, including those without an op. */
void builder_no_op(struct builder *b, uint64_t time)
{
	if (b->sink.source_times && b->last >= time)
		b->last++;
}

/* Records the end of a goroutine or task. */
static int note_end(struct builder *b, const struct op *op)
{
	if (op->kind != OP_GO_DESTROY && op->kind != OP_GO_DESTROY_SYSCALL &&
	    op->kind != OP_GO_SWITCH_DESTROY && op->kind != OP_TASK_END)
		return 0;
	b->last_end = b->last;
	return op->kind == OP_TASK_END ? map64_set(&b->task_ends, op->arg, b->generation) : 0;
}

static bool steps_is_active(unsigned kind)
{
	return kind == OP_GC_ACTIVE || kind == OP_GC_SWEEP_ACTIVE || kind == OP_GC_ASSIST_ACTIVE;
}

static int steps_append(struct builder *b, uint64_t time, const struct op *op)
{
	struct op *new = array_push(&b->ops);

	if (!new)
		return steps_no_memory(b);
	*new = *op;
	new->m = b->threads[op->m].tid;
	new->m2 = b->threads[op->m2].tid;
	new->time = builder_date(b, time, op, new->m);
	b->last = new->time;
	if (b->sink.source_times && (op->kind == OP_GO_SWITCH || op->kind == OP_GO_SWITCH_DESTROY))
		b->last += 2; /* readers expand it to three events */
	if (steps_is_active(op->kind) &&
	    !b->sink.source_times) /* only time orders it before the range's end */
		b->last = next_unit(new->time) - 1;
	if (op_is_creation(op->kind))
		b->lives[op_other(op)].birth_at = (uint32_t)b->ops.n;
	return note_end(b, op) ? steps_no_memory(b) : 0;
}

int builder_step(struct builder *b, uint64_t time, struct op *op)
{
	bool had_g = b->sched.ms[op->m].g;
	struct violation violation;

	complete(b, op);
	if (!sched_check(&b->sched, op, &violation))
		return broken(b, op, &violation);
	if (sched_apply(&b->sched, op))
		return steps_no_memory(b);
	note_thread(b, op, had_g);
	return note_goroutines(b, op) ? steps_no_memory(b) : steps_append(b, time, op);
}
