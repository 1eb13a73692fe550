/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Encodes ops as wire v2, one generation at a time. Events are collected in one stream per thread; a full
 * stream is written as a batch. The tables that events refer to are written before them, so that formats
 * before go 1.26 keep the complete part of a file cut inside a generation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/map64.h"
#include "wire/dict.h"
#include "wire/encode.h"
#include "wire/event.h"
#include "wire/varint.h"
#include "wire/wire.h"

enum {
	MAX_OP_BYTES = 3 * (1 + 5 * MAX_UV), /* a coroutine switch in go 1.22 is three events */
	STREAM_LIMIT = MAX_BATCH_DATA - MAX_OP_BYTES,
	MAX_P = 1 << 16, /* far above the GOMAXPROCS limit of 1024 */
	RECENT_STREAMS = 16,
	IDLE_END_NS = 10000000, /* silence at a generation's end that readers should see */
};

/*
 * Time unit of the file, as in the runtime's own tracer on amd64 (traceTimeDiv, Go 1.26
 * runtime/tracetime.go): the typical distance of two events fits into one byte. Events in the same unit are
 * still ordered, on a thread by their batch, else by sequence numbers. Readers convert a batch's time with
 * float64: multiples of 64 ns are exact for 18 years of uptime.
 */
#define FREQUENCY (1000000000ull / OP_UNIT_NS) /* units per second */

static uint64_t to_units(uint64_t ns)
{
	return ns / OP_UNIT_NS;
}

/* The open batch of one thread. Slots are reused for other threads in each generation. */
struct stream {
	struct buffer data;
	uint64_t m;
	uint64_t base, last; /* units: time of the batch, and of its last event */
};

/* Sequence numbers restart from 0 in each generation. */
struct sequence {
	uint32_t gen, n;
};

struct encoder_v2 {
	struct wire_options options;
	struct dict dict;
	struct out_table samples;
	struct buffer head, body;
	struct stream *streams;
	size_t nstreams, stream_capacity;
	struct map64 stream_by_m;
	uint32_t recent[RECENT_STREAMS]; /* index of the last stream used, by thread id */
	struct sequence *gs, *ps;        /* by goroutine index, by P */
	size_t ngs, nps;
	uint8_t *created_blocked; /* go 1.22: by goroutine index, 1 = waiting in the ops but runnable in the
				   * file
				   */
	size_t nborn_blocked;
	uint64_t gc_seq;
	uint32_t gen;  /* the open or last generation */
	uint64_t time; /* of the open generation's tables: units */
	uint64_t bytes;
	uint32_t coroutine_reason;     /* string id of GoBlock's reason for a coroutine switch in go 1.22 */
	bool has_memory, named_memory; /* has memory ops; has written the units of their ids */
	int failed;                    /* a generation failed: no more can be written */
};

uint64_t encode_v2_bytes(const struct encoder_v2 *wire)
{
	return wire->bytes;
}

static int write_out(struct encoder_v2 *wire, const struct buffer *buf)
{
	if (!wire->failed && buf->len)
		wire->failed = wire->options.out.write(wire->options.out.ctx, buf->bytes, buf->len);
	if (!wire->failed)
		wire->bytes += buf->len;
	return wire->failed;
}

static int write_header(struct encoder_v2 *wire)
{
	uint8_t text[HEADER_SIZE + 1] = "go 1.00 trace\0\0";
	struct buffer header = {.bytes = text, .len = HEADER_SIZE};

	text[5] = (uint8_t)('0' + wire->options.format / 10);
	text[6] = (uint8_t)('0' + wire->options.format % 10);
	return write_out(wire, &header);
}

struct encoder_v2 *encode_v2_new(const struct wire_options *options, struct error *err)
{
	struct encoder_v2 *wire;
	int ret;

	wire = calloc(1, sizeof(*wire));
	if (!wire) {
		error_set(err, ENOMEM, "no memory for the trace encoder");
		return NULL;
	}
	wire->options = *options;
	wire->samples.type = EV_CPU_SAMPLES;
	dict_init(&wire->dict, options);
	ret = write_header(wire);
	if (ret) {
		error_set(err, -ret, "cannot write the trace's header: %s", strerror(-ret));
		encode_v2_free(wire);
		return NULL;
	}
	return wire;
}

void encode_v2_free(struct encoder_v2 *wire)
{
	if (!wire)
		return;
	for (size_t i = 0; i < wire->stream_capacity; i++)
		buffer_free(&wire->streams[i].data);
	dict_free(&wire->dict);
	buffer_free(&wire->samples.out);
	buffer_free(&wire->head);
	buffer_free(&wire->body);
	map64_free(&wire->stream_by_m);
	free(wire->streams);
	free(wire->gs);
	free(wire->ps);
	free(wire->created_blocked);
	free(wire);
}

/* --- streams --- */

static inline uint64_t thread(uint32_t m)
{
	return m == NO_M ? UINT64_MAX : m;
}

static int close_batch(struct encoder_v2 *wire, struct stream *stream)
{
	uint8_t *p;

	if (!stream->data.len)
		return 0;
	if (buffer_reserve(&wire->body, stream->data.len + 1 + 4 * MAX_UV))
		return -ENOMEM;
	p = wire->body.bytes + wire->body.len;
	*p++ = EV_EVENT_BATCH;
	p = put_uv(p, wire->gen);
	p = put_uv(p, stream->m);
	p = put_uv(p, stream->base);
	p = put_uv(p, stream->data.len);
	memcpy(p, stream->data.bytes, stream->data.len);
	wire->body.len = (size_t)(p - wire->body.bytes) + stream->data.len;
	stream->data.len = 0;
	return 0;
}

static struct stream *new_stream(struct encoder_v2 *wire, uint32_t m)
{
	struct stream *stream;

	if (array_grow((void **)&wire->streams, &wire->stream_capacity, wire->nstreams + 1,
		       sizeof(*wire->streams)))
		return NULL;
	/* Key 0 is not allowed and NO_M is 0, hence + 1. */
	if (map64_set(&wire->stream_by_m, (uint64_t)m + 1, (uint32_t)wire->nstreams))
		return NULL;
	stream = &wire->streams[wire->nstreams++];
	stream->m = thread(m);
	stream->data.len = 0;
	return stream;
}

static struct stream *find_stream(struct encoder_v2 *wire, uint32_t m)
{
	uint32_t *recent = &wire->recent[m % RECENT_STREAMS];
	const uint32_t *index;

	if (*recent < wire->nstreams && wire->streams[*recent].m == thread(m))
		return &wire->streams[*recent];
	index = map64_get(&wire->stream_by_m, (uint64_t)m + 1);
	if (!index)
		return new_stream(wire, m);
	*recent = *index;
	return &wire->streams[*index];
}

/* Returns m's stream, with space for one op and at a time that the op can follow. NULL when out of memory. */
static struct stream *open_stream(struct encoder_v2 *wire, uint32_t m, uint64_t units)
{
	struct stream *stream = find_stream(wire, m);

	if (!stream)
		return NULL;
	if (stream->data.len > STREAM_LIMIT && close_batch(wire, stream))
		return NULL;
	if (buffer_reserve(&stream->data, MAX_OP_BYTES))
		return NULL;
	if (!stream->data.len) {
		stream->base = units;
		stream->last = units;
	}
	return stream;
}

/* --- events --- */

/* Output position for the events of one op. */
struct event_cursor {
	uint8_t *p;
	uint64_t dt; /* time delta of the next event; 0 after the first event */
};

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

static inline uint32_t next(struct sequence *seq, uint32_t gen)
{
	if (seq->gen != gen)
		*seq = (struct sequence){.gen = gen};
	return ++seq->n;
}

static inline uint64_t goid(const struct encoder_v2 *wire, uint32_t g)
{
	return wire->dict.tables->goids[g];
}

static inline uint32_t next_g(struct encoder_v2 *wire, uint32_t g)
{
	return next(&wire->gs[g], wire->gen);
}

static inline uint32_t next_p(struct encoder_v2 *wire, int32_t p)
{
	return next(&wire->ps[p], wire->gen);
}

static inline void reset(struct sequence *seq, uint32_t gen)
{
	*seq = (struct sequence){.gen = gen};
}

/*
 * Looking up an id may assign it, and the order in which C evaluates arguments depends on the machine: where
 * an event has two ids, they are looked up one after the other. A log gives the same bytes everywhere.
 */
static inline void string_and_stack(struct event_cursor *at, enum event_type type, struct dict *dict,
				    const struct op *op)
{
	uint32_t stack = dict_stack(dict, op->stack);

	event2(at, type, dict_string(dict, op->string), stack);
}

static void go_status(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	uint32_t stack = op->stack ? dict_stack(&wire->dict, op->stack) : 0;
	unsigned status = op->status;

	reset(&wire->gs[op->g], wire->gen);
	if (wire->created_blocked[op->g])
		status = G_RUNNABLE;
	if (stack && wire->options.format >= WIRE_GO123)
		event4(at, EV_GO_STATUS_STACK, goid(wire, op->g), thread(op->m), status, stack);
	else
		event3(at, EV_GO_STATUS, goid(wire, op->g), thread(op->m), status);
}

/* go 1.22 has no event for a goroutine created waiting: it stays runnable until it is woken. */
static void go_create(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	bool blocked = op->kind == OP_GO_CREATE_BLOCKED;
	bool known = wire->options.format >= WIRE_GO123;
	uint32_t stack = dict_stack(&wire->dict, op->stack);

	reset(&wire->gs[op->g2], wire->gen);
	wire->created_blocked[op->g2] = blocked && !known;
	event3(at, blocked && known ? EV_GO_CREATE_BLOCKED : EV_GO_CREATE, goid(wire, op->g2),
	       dict_stack(&wire->dict, op->stack2), stack);
}

static void go_unblock(struct encoder_v2 *wire, uint32_t g, uint32_t stack, struct event_cursor *at)
{
	if (!wire->created_blocked[g])
		event3(at, EV_GO_UNBLOCK, goid(wire, g), next_g(wire, g), dict_stack(&wire->dict, stack));
	wire->created_blocked[g] = 0;
}

/*
 * A coroutine switch is one event since go 1.23. Before, it is the three events that readers expand that one
 * to.
 */
static void go_switch(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	bool destroy = op->kind == OP_GO_SWITCH_DESTROY;

	if (wire->options.format >= WIRE_GO123) {
		event2(at, destroy ? EV_GO_SWITCH_DESTROY : EV_GO_SWITCH, goid(wire, op->g2),
		       next_g(wire, op->g2));
		return;
	}
	go_unblock(wire, op->g2, 0, at);
	if (destroy)
		event(at, EV_GO_DESTROY);
	else
		event2(at, EV_GO_BLOCK, dict_string(&wire->dict, wire->coroutine_reason), 0);
	event2(at, EV_GO_START, goid(wire, op->g2), next_g(wire, op->g2));
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
		go_create(wire, op, at);
		break;
	case OP_GO_CREATE_SYSCALL:
		reset(&wire->gs[op->g], wire->gen);
		wire->created_blocked[op->g] = 0;
		event1(at, EV_GO_CREATE_SYSCALL, goid(wire, op->g));
		break;
	case OP_GO_DESTROY:
		event(at, EV_GO_DESTROY);
		break;
	case OP_GO_DESTROY_SYSCALL:
		event(at, EV_GO_DESTROY_SYSCALL);
		break;
	case OP_GO_SWITCH:
	case OP_GO_SWITCH_DESTROY:
		go_switch(wire, op, at);
		break;
	case OP_GO_STATUS:
		go_status(wire, op, at);
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
		event1(at, EV_GC_MARK_ASSIST_ACTIVE, goid(wire, op->g));
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
	uint32_t stack = dict_stack(dict, op->stack);

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
		event4(at, EV_USER_LOG, op->arg, dict_string(dict, op->string),
		       dict_string(dict, op->string2), stack);
		break;
	default:
		break;
	}
}

/*
 * Memory ids as in Go's experiment AllocFree: they count pages, or smallest stacks, from the start of the
 * heap (Go 1.23 to 1.26 runtime/traceallocfree.go). A lower address wraps around, and readers wrap it back.
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

/* Writes the units of memory ids, once, in the first generation that has memory ops. */
static int put_alloc_info(struct encoder_v2 *wire)
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

/* The first three kinds are the most frequent. */
static void put_op(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at)
{
	struct dict *dict = &wire->dict;

	switch (op->kind) {
	case OP_GO_START:
		event2(at, EV_GO_START, goid(wire, op->g), next_g(wire, op->g));
		break;
	case OP_GO_BLOCK:
		string_and_stack(at, EV_GO_BLOCK, dict, op);
		break;
	case OP_GO_UNBLOCK:
		go_unblock(wire, op->g2, op->stack, at);
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

static int put_sample(struct encoder_v2 *wire, const struct op *op)
{
	uint8_t *p = table_reserve(&wire->samples, wire->gen, wire->time, 1 + 5 * MAX_UV);

	if (!p)
		return -ENOMEM;
	*p++ = EV_CPU_SAMPLE;
	p = put_uv(p, to_units(op->time));
	p = put_uv(p, thread(op->m));
	p = put_uv(p, op->p < 0 ? UINT64_MAX : (uint64_t)op->p);
	p = put_uv(p, op->g ? goid(wire, op->g) : 0);
	p = put_uv(p, dict_stack(&wire->dict, op->stack));
	table_commit(&wire->samples, p);
	return 0;
}

/* --- generations --- */

/* Sets of op kinds that use op.p and op.g2, one bit per enum op_kind. */
#define BIT(kind) (1ull << (kind))
#define USES_P                                                                                               \
	(BIT(OP_PROC_STATUS) | BIT(OP_PROC_START) | BIT(OP_PROC_STEAL) | BIT(OP_SYSCALL_BEGIN) |             \
	 BIT(OP_GC_SWEEP_ACTIVE))

_Static_assert(OP_KIND_COUNT <= 64, "a bit for each kind");

/*
 * Refuses values that would be out of an array's bounds. The model is responsible for the rules of the trace.
 */
static int check_op(struct encoder_v2 *wire, const struct op *op, const char **why)
{
	if (op->kind >= OP_KIND_COUNT)
		*why = "unknown kind";
	else if (op->g >= wire->dict.tables->ngoroutines || op->g2 >= wire->dict.tables->ngoroutines)
		*why = "goroutine index out of the table";
	else if ((USES_P & BIT(op->kind)) && (op->p < 0 || op->p >= MAX_P))
		*why = "P out of range";
	else
		return 0;
	return -EINVAL;
}

static int encode_op(struct encoder_v2 *wire, const struct op *op, const char **why)
{
	uint64_t now = to_units(op->time);
	struct stream *stream;
	struct event_cursor at;
	int ret = check_op(wire, op, why);

	if (ret || op->kind == OP_NONE)
		return ret;
	if (op->kind == OP_CPU_SAMPLE)
		return put_sample(wire, op);
	if (op->p >= 0 && (size_t)op->p >= wire->nps &&
	    array_grow((void **)&wire->ps, &wire->nps, (size_t)op->p + 1, sizeof(*wire->ps)))
		return -ENOMEM;
	stream = open_stream(wire, op->m, now);
	if (!stream)
		return -ENOMEM;
	if (now < stream->last) {
		*why = "its time precedes that of the previous op on this thread";
		return -EINVAL;
	}
	at = (struct event_cursor){stream->data.bytes + stream->data.len, now - stream->last};
	put_op(wire, op, &at);
	/* If an op produced no event (go 1.22), the next event's delta covers it. */
	if (at.p != stream->data.bytes + stream->data.len)
		stream->last = now;
	stream->data.len = (size_t)(at.p - stream->data.bytes);
	return 0;
}

static int encode_ops(struct encoder_v2 *wire, const struct generation *gen, struct error *err)
{
	const char *why = "no memory";

	for (size_t i = 0; i < gen->nops; i++) {
		int ret = encode_op(wire, &gen->ops[i], &why);

		if (ret)
			return error_set(err, -ret, "cannot encode op %zu (%s) of generation %u: %s", i,
					 op_name(gen->ops[i].kind), gen->number, why);
	}
	for (size_t i = 0; i < wire->nstreams; i++)
		if (close_batch(wire, &wire->streams[i]))
			return error_set(err, ENOMEM, "no memory for generation %u", gen->number);
	table_close(&wire->samples);
	if (put_alloc_info(wire))
		return error_set(err, ENOMEM, "no memory for generation %u", gen->number);
	if (dict_end(&wire->dict))
		return error_set(err, -wire->dict.failed, "cannot write the tables of generation %u: %s",
				 gen->number, strerror(-wire->dict.failed));
	return 0;
}

/* Writes the sync batch. It comes first, so that readers can use the rest of a truncated file. */
static int put_sync(struct encoder_v2 *wire, const struct generation *gen)
{
	uint8_t data[2 + MAX_UV + 1 + 4 * MAX_UV], *p = data, *h;

	if (wire->options.format >= WIRE_GO125)
		*p++ = EV_SYNC;
	*p++ = EV_FREQUENCY;
	p = put_uv(p, FREQUENCY);
	if (wire->options.format >= WIRE_GO125) {
		*p++ = EV_CLOCK_SNAPSHOT;
		p = put_uv(p, to_units(gen->mono_ns) - wire->time);
		p = put_uv(p, gen->mono_ns);
		p = put_uv(p, gen->wall_sec);
		p = put_uv(p, gen->wall_nsec);
	}
	wire->head.len = 0;
	if (buffer_reserve(&wire->head, 1 + 4 * MAX_UV + sizeof(data)))
		return -ENOMEM;
	h = wire->head.bytes;
	*h++ = EV_EVENT_BATCH;
	h = put_uv(h, wire->gen);
	h = put_uv(h, UINT64_MAX);
	h = put_uv(h, wire->time);
	h = put_uv(h, (uint64_t)(p - data));
	wire->head.len = (size_t)(h - wire->head.bytes);
	return buffer_append(&wire->head, data, (size_t)(p - data));
}

/*
 * The time of the tables' batches. Nothing but the least time of a generation's batches matters to Go's
 * reader (internal/trace/generation.go, minTs). The runtime's tracer writes the tables when a generation
 * ends; so do we where that is not to be seen in the events, because nothing happened at last.
 */
static uint64_t tables_time(const struct encoder_v2 *wire, const struct generation *gen)
{
	uint64_t last = gen->nops ? gen->ops[gen->nops - 1].time : gen->start;

	return gen->end > last && gen->end - last >= IDLE_END_NS ? to_units(gen->end) : wire->time;
}

static int begin(struct encoder_v2 *wire, const struct generation *gen)
{
	uint64_t first = gen->mono_ns < gen->start ? gen->mono_ns : gen->start;
	size_t n = gen->tables->ngoroutines;

	wire->gen = gen->number;
	wire->time = to_units(first);
	wire->body.len = 0;
	wire->nstreams = 0;
	map64_clear(&wire->stream_by_m);
	table_clear(&wire->samples);
	dict_begin(&wire->dict, gen, tables_time(wire, gen));
	if (wire->options.format < WIRE_GO123)
		wire->coroutine_reason = strtab_add_str(gen->tables->strings, "coroutine");
	if (array_grow((void **)&wire->gs, &wire->ngs, n, sizeof(*wire->gs)))
		return -ENOMEM;
	return array_grow((void **)&wire->created_blocked, &wire->nborn_blocked, n,
			  sizeof(*wire->created_blocked));
}

static int write_generation(struct encoder_v2 *wire, struct error *err)
{
	static const uint8_t end = EV_END_OF_GENERATION;
	int ret = 0;

	if (wire->options.format >= WIRE_GO126)
		ret = buffer_append(&wire->body, &end, 1);
	if (ret)
		return error_set(err, ENOMEM, "no memory for generation %u", wire->gen);
	ret = write_out(wire, &wire->head);
	if (!ret)
		ret = write_out(wire, &wire->dict.string_table.out);
	if (!ret)
		ret = write_out(wire, &wire->dict.stack_table.out);
	if (!ret)
		ret = write_out(wire, &wire->samples.out);
	if (!ret)
		ret = write_out(wire, &wire->body);
	if (ret)
		error_set(err, -ret, "cannot write generation %u of the trace: %s", wire->gen,
			  strerror(-ret));
	return ret;
}

int encode_v2_generation(struct encoder_v2 *wire, const struct generation *gen, struct error *err)
{
	int ret;

	if (wire->failed)
		return error_set(err, -wire->failed, "the trace was closed by an earlier error: %s",
				 strerror(-wire->failed));
	if (gen->number == 0 || (wire->gen && gen->number != wire->gen + 1))
		return error_set(err, EINVAL, "generation %u cannot follow generation %u", gen->number,
				 wire->gen);
	ret = begin(wire, gen);
	if (!ret)
		ret = put_sync(wire, gen);
	if (ret)
		return error_set(err, -ret, "no memory for generation %u", gen->number);
	ret = encode_ops(wire, gen, err);
	if (!ret)
		ret = write_generation(wire, err);
	/*
	 * Sequence numbers have advanced for events that were not written: readers would reject what follows.
	 */
	wire->failed = ret;
	return ret;
}
