/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Translates ops to events of v2. */
#include <errno.h>

#include "trace/wire/encoder_v2.h"
#include "trace/wire/varint.h"

static inline void event(struct event_cursor *at, enum event_type type)
{
	*at->p++ = (uint8_t)type;
	at->p = put_uv(at->p, at->dt);
	at->dt = 0;
}

static inline void event1(struct event_cursor *at, enum event_type type, uint64_t a)
{
	event(at, type);
	at->p = put_uv(at->p, a);
}

static inline void event2(struct event_cursor *at, enum event_type type, uint64_t a, uint64_t b)
{
	event1(at, type, a);
	at->p = put_uv(at->p, b);
}

static inline void event3(struct event_cursor *at, enum event_type type, uint64_t a, uint64_t b, uint64_t c)
{
	event2(at, type, a, b);
	at->p = put_uv(at->p, c);
}

static inline void event4(struct event_cursor *at, enum event_type type, uint64_t a, uint64_t b, uint64_t c,
			  uint64_t d)
{
	event3(at, type, a, b, c);
	at->p = put_uv(at->p, d);
}

static inline uint32_t sequence_next(struct sequence *seq, uint32_t gen)
{
	if (seq->gen != gen)
		*seq = (struct sequence){.gen = gen};
	return ++seq->n;
}

static inline uint64_t events_v2_goid(const struct encoder_v2 *wire, uint32_t g)
{
	return wire->dict.tables->goids[g];
}

static inline uint32_t next_g(struct encoder_v2 *wire, uint32_t g)
{
	return sequence_next(&wire->gs[g], wire->gen);
}

static inline uint32_t next_p(struct encoder_v2 *wire, int32_t p)
{
	return sequence_next(&wire->ps[p], wire->gen);
}

static inline void reset(struct sequence *seq, uint32_t gen)
{
	*seq = (struct sequence){.gen = gen};
}

/*
 * A lookup may assign the id, and C leaves the order in which arguments are evaluated open. Two ids of one
 * event are therefore looked up in sequence, so that a log gives the same bytes on every machine.
 */
static inline void string_and_stack(struct event_cursor *at, enum event_type type, struct dict *dict,
				    const struct op *op)
{
	uint32_t stack = dict_stack(dict, op->stack);

	event2(at, type, dict_string(dict, op->string), stack);
}

static void events_v2_go_status(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	uint32_t stack = op->stack ? dict_stack(&wire->dict, op->stack) : 0;
	unsigned status = op->status;

	reset(&wire->gs[op->g], wire->gen);
	if (wire->created_blocked[op->g])
		status = G_RUNNABLE;
	if (stack && wire->options.format >= WIRE_GO123)
		event4(at, EV_GO_STATUS_STACK, events_v2_goid(wire, op->g), thread(op->m), status, stack);
	else
		event3(at, EV_GO_STATUS, events_v2_goid(wire, op->g), thread(op->m), status);
}

/* go 1.22 has no event that creates a waiting goroutine: the file shows it as runnable until it is woken. */
static void events_v2_go_create(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	bool blocked = op->kind == OP_GO_CREATE_BLOCKED;
	bool known = wire->options.format >= WIRE_GO123;
	uint32_t stack = dict_stack(&wire->dict, op->stack);

	reset(&wire->gs[op->g2], wire->gen);
	wire->created_blocked[op->g2] = blocked && !known;
	event3(at, blocked && known ? EV_GO_CREATE_BLOCKED : EV_GO_CREATE, events_v2_goid(wire, op->g2),
	       dict_stack(&wire->dict, op->stack2), stack);
}

static void events_v2_go_unblock(struct encoder_v2 *wire, uint32_t g, uint32_t stack, struct event_cursor *at)
{
	if (!wire->created_blocked[g])
		event3(at, EV_GO_UNBLOCK, events_v2_goid(wire, g), next_g(wire, g),
		       dict_stack(&wire->dict, stack));
	wire->created_blocked[g] = 0;
}

/* A coroutine switch is one event since go 1.23. In go 1.22, it is the three events that it stands for. */
static void events_v2_go_switch(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	bool destroy = op->kind == OP_GO_SWITCH_DESTROY;

	if (wire->options.format >= WIRE_GO123) {
		event2(at, destroy ? EV_GO_SWITCH_DESTROY : EV_GO_SWITCH, events_v2_goid(wire, op->g2),
		       next_g(wire, op->g2));
		return;
	}
	events_v2_go_unblock(wire, op->g2, 0, at);
	if (destroy)
		event(at, EV_GO_DESTROY);
	else
		event2(at, EV_GO_BLOCK, dict_string(&wire->dict, wire->coroutine_reason), 0);
	event2(at, EV_GO_START, events_v2_goid(wire, op->g2), next_g(wire, op->g2));
}

static void put_scheduler(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	struct dict *dict = &wire->dict;

	switch (op->kind) {
	case OP_GO_STOP:
		string_and_stack(at, EV_GO_STOP, dict, op);
		break;
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
		events_v2_go_create(wire, op, at);
		break;
	case OP_GO_CREATE_SYSCALL:
		reset(&wire->gs[op->g], wire->gen);
		wire->created_blocked[op->g] = 0;
		event1(at, EV_GO_CREATE_SYSCALL, events_v2_goid(wire, op->g));
		break;
	case OP_GO_DESTROY:
		event(at, EV_GO_DESTROY);
		break;
	case OP_GO_DESTROY_SYSCALL:
		event(at, EV_GO_DESTROY_SYSCALL);
		break;
	case OP_GO_SWITCH:
	case OP_GO_SWITCH_DESTROY:
		events_v2_go_switch(wire, op, at);
		break;
	case OP_GO_STATUS:
		events_v2_go_status(wire, op, at);
		break;
	default:
		break;
	}
}

static void put_proc(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	switch (op->kind) {
	case OP_SYSCALL_BEGIN:
		event2(at, EV_GO_SYSCALL_BEGIN, next_p(wire, op->p), dict_stack(&wire->dict, op->stack));
		break;
	case OP_SYSCALL_END:
		event(at, EV_GO_SYSCALL_END);
		break;
	case OP_SYSCALL_END_BLOCKED:
		event(at, EV_GO_SYSCALL_END_BLOCKED);
		break;
	case OP_PROC_START:
		event2(at, EV_PROC_START, (uint64_t)op->p, next_p(wire, op->p));
		break;
	case OP_PROC_STOP:
		event(at, EV_PROC_STOP);
		break;
	case OP_PROC_STEAL:
		event3(at, EV_PROC_STEAL, (uint64_t)op->p, next_p(wire, op->p), thread(op->m2));
		break;
	case OP_PROC_STATUS:
		reset(&wire->ps[op->p], wire->gen);
		event2(at, EV_PROC_STATUS, (uint64_t)op->p, op->status);
		break;
	case OP_PROCS_CHANGE:
		event2(at, EV_PROCS_CHANGE, op->arg, dict_stack(&wire->dict, op->stack));
		break;
	default:
		break;
	}
}

static void put_world(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	struct dict *dict = &wire->dict;

	switch (op->kind) {
	case OP_STW_BEGIN:
		string_and_stack(at, EV_STW_BEGIN, dict, op);
		break;
	case OP_STW_END:
		event(at, EV_STW_END);
		break;
	case OP_GC_ACTIVE:
		event1(at, EV_GC_ACTIVE, ++wire->gc_seq);
		break;
	case OP_GC_BEGIN:
		event2(at, EV_GC_BEGIN, ++wire->gc_seq, dict_stack(dict, op->stack));
		break;
	case OP_GC_END:
		event1(at, EV_GC_END, ++wire->gc_seq);
		break;
	case OP_GC_SWEEP_ACTIVE:
		event1(at, EV_GC_SWEEP_ACTIVE, (uint64_t)op->p);
		break;
	case OP_GC_SWEEP_BEGIN:
		event1(at, EV_GC_SWEEP_BEGIN, dict_stack(dict, op->stack));
		break;
	case OP_GC_SWEEP_END:
		event2(at, EV_GC_SWEEP_END, op->arg, op->arg2);
		break;
	case OP_GC_ASSIST_ACTIVE:
		event1(at, EV_GC_MARK_ASSIST_ACTIVE, events_v2_goid(wire, op->g));
		break;
	case OP_GC_ASSIST_BEGIN:
		event1(at, EV_GC_MARK_ASSIST_BEGIN, dict_stack(dict, op->stack));
		break;
	case OP_GC_ASSIST_END:
		event(at, EV_GC_MARK_ASSIST_END);
		break;
	case OP_HEAP_ALLOC:
		event1(at, EV_HEAP_ALLOC, op->arg);
		break;
	case OP_HEAP_GOAL:
		event1(at, EV_HEAP_GOAL, op->arg);
		break;
	default:
		break;
	}
}

static void put_annotation(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	struct dict *dict = &wire->dict;
	uint32_t stack = dict_stack(dict, op->stack), message;

	switch (op->kind) {
	case OP_GO_LABEL:
		event1(at, EV_GO_LABEL, dict_string(dict, op->string));
		break;
	case OP_TASK_BEGIN:
		event4(at, EV_USER_TASK_BEGIN, op->arg, op->arg2, dict_string(dict, op->string), stack);
		break;
	case OP_TASK_END:
		event2(at, EV_USER_TASK_END, op->arg, stack);
		break;
	case OP_REGION_BEGIN:
		event3(at, EV_USER_REGION_BEGIN, op->arg, dict_string(dict, op->string), stack);
		break;
	case OP_REGION_END:
		event3(at, EV_USER_REGION_END, op->arg, dict_string(dict, op->string), stack);
		break;
	case OP_LOG:
		message = dict_string(dict, op->string2); /* first: the order of calls gives the ids */
		event4(at, EV_USER_LOG, op->arg, dict_string(dict, op->string), message, stack);
		break;
	default:
		break;
	}
}

/*
 * Memory ids as in Go's experiment AllocFree: they count pages, or units of the smallest stack size, from the
 * start of the heap (Go 1.23 to 1.26 runtime/traceallocfree.go). A lower address wraps around, and readers
 * wrap it back.
 */
enum { PAGE = 8192, OBJECT_ALIGN = 8, MIN_STACK = 2048, EXPERIMENT_ALLOC_FREE = 1, ALLOC_INFO = 1 };

static uint64_t memory_id(const struct encoder_v2 *wire, const struct op *op, uint64_t unit)
{
	return (op->arg - wire->dict.tables->heap_base) / unit;
}

/* log2 of a power of two, plus one; 0 for 0. */
static uint64_t stack_order(uint64_t bytes)
{
	return bytes ? 64 - (uint64_t)__builtin_clzll(bytes) : 0;
}

static void put_memory(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	if (wire->options.format < WIRE_GO123)
		return;
	wire->has_memory = true;
	switch (op->kind) {
	case OP_MSPAN:
	case OP_MSPAN_ALLOC:
		event3(at, op->kind == OP_MSPAN ? EV_SPAN : EV_SPAN_ALLOC, memory_id(wire, op, PAGE),
		       op->arg2 >> 16, op->arg2 & 0xffff);
		break;
	case OP_MSPAN_FREE:
		event1(at, EV_SPAN_FREE, memory_id(wire, op, PAGE));
		break;
	case OP_GO_STACK:
	case OP_GO_STACK_ALLOC:
		event2(at, op->kind == OP_GO_STACK ? EV_GO_STACK : EV_GO_STACK_ALLOC,
		       memory_id(wire, op, MIN_STACK), stack_order(op->arg2));
		break;
	case OP_GO_STACK_FREE:
		event1(at, EV_STACK_FREE, memory_id(wire, op, MIN_STACK));
		break;
	default:
		break;
	}
}

int events_v2_put_alloc_info(struct encoder_v2 *wire)
{
	uint8_t data[1 + 4 * MAX_UV], *p = data, *h;

	if (!wire->has_memory || wire->named_memory)
		return 0;
	wire->named_memory = true;
	*p++ = ALLOC_INFO;
	p = put_uv(p, wire->dict.tables->heap_base);
	p = put_uv(p, PAGE);
	p = put_uv(p, OBJECT_ALIGN);
	p = put_uv(p, MIN_STACK);
	if (buffer_reserve(&wire->body, 2 + 4 * MAX_UV + sizeof(data)))
		return -ENOMEM;
	h = wire->body.bytes + wire->body.len;
	*h++ = EV_EXPERIMENTAL_BATCH;
	*h++ = EXPERIMENT_ALLOC_FREE;
	h = put_uv(h, wire->gen);
	h = put_uv(h, UINT64_MAX);
	h = put_uv(h, wire->time);
	h = put_uv(h, (uint64_t)(p - data));
	wire->body.len = (size_t)(h - wire->body.bytes);
	return buffer_append(&wire->body, data, (size_t)(p - data));
}

/* The three most frequent kinds come first. */
void events_v2_put(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	struct dict *dict = &wire->dict;

	switch (op->kind) {
	case OP_GO_START:
		event2(at, EV_GO_START, events_v2_goid(wire, op->g), next_g(wire, op->g));
		break;
	case OP_GO_BLOCK:
		string_and_stack(at, EV_GO_BLOCK, dict, op);
		break;
	case OP_GO_UNBLOCK:
		events_v2_go_unblock(wire, op->g2, op->stack, at);
		break;
	case OP_GO_STATUS:
	case OP_GO_CREATE ... OP_GO_CREATE_SYSCALL:
	case OP_GO_DESTROY ... OP_GO_STOP:
	case OP_GO_SWITCH ... OP_GO_SWITCH_DESTROY:
		put_scheduler(wire, op, at);
		break;
	case OP_PROC_STATUS:
	case OP_PROCS_CHANGE ... OP_PROC_STEAL:
	case OP_SYSCALL_BEGIN ... OP_SYSCALL_END_BLOCKED:
		put_proc(wire, op, at);
		break;
	case OP_STW_BEGIN ... OP_HEAP_GOAL:
		put_world(wire, op, at);
		break;
	case OP_MSPAN ... OP_GO_STACK_FREE:
		put_memory(wire, op, at);
		break;
	default:
		put_annotation(wire, op, at);
	}
}

int events_v2_put_sample(struct encoder_v2 *wire, const struct op *op)
{
	uint8_t *p = table_reserve(&wire->samples, wire->gen, wire->time, 1 + 5 * MAX_UV);

	if (!p)
		return -ENOMEM;
	*p++ = EV_CPU_SAMPLE;
	p = put_uv(p, to_units(op->time));
	p = put_uv(p, thread(op->m));
	p = put_uv(p, op->p < 0 ? UINT64_MAX : (uint64_t)op->p);
	p = put_uv(p, op->g ? events_v2_goid(wire, op->g) : 0);
	p = put_uv(p, dict_stack(&wire->dict, op->stack));
	table_commit(&wire->samples, p);
	return 0;
}
