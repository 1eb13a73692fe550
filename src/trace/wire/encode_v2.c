/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Encodes ops as wire v2, one generation at a time. Events are collected in one stream per thread; a full
 * stream is written as a batch. The tables precede the events that refer to them. In formats before go 1.26,
 * this keeps the complete part of a generation valid if the file is truncated inside it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/encoder_v2.h"
#include "trace/wire/varint.h"

enum {
	STREAM_LIMIT = MAX_BATCH_DATA - MAX_OP_BYTES,
	MAX_P = 1 << 16,        /* far above the GOMAXPROCS limit of 1024 */
	IDLE_END_NS = 10000000, /* idle time at a generation's end that readers should see */
};

static int encoder_v2_write_out(struct encoder_v2 *wire, const struct buffer *buf)
{
	if (!wire->failed && buf->len)
		wire->failed = wire->options.out.write(wire->options.out.ctx, buf->bytes, buf->len);
	return wire->failed;
}

static int write_header(struct encoder_v2 *wire)
{
	uint8_t text[HEADER_SIZE + 1] = "go 1.00 trace\0\0";
	struct buffer header = {.bytes = text, .len = HEADER_SIZE};

	text[5] = (uint8_t)('0' + wire->options.format / 10);
	text[6] = (uint8_t)('0' + wire->options.format % 10);
	return encoder_v2_write_out(wire, &header);
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

/* Returns m's stream, with space for one op. A new batch starts at `units`. NULL when out of memory. */
static struct stream *encoder_v2_open_stream(struct encoder_v2 *wire, uint32_t m, uint64_t units)
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

/* --- generations --- */

/* Sets of op kinds that use op.p and op.g2, one bit per enum op_kind. */
#define BIT(kind) (1ull << (kind))
#define USES_P                                                                                               \
	(BIT(OP_PROC_STATUS) | BIT(OP_PROC_START) | BIT(OP_PROC_STEAL) | BIT(OP_SYSCALL_BEGIN) |             \
	 BIT(OP_GC_SWEEP_ACTIVE))

_Static_assert(OP_KIND_COUNT <= 64, "a bit for each kind");

/* Refuses values that would be out of an array's bounds. The model ensures the rules of the trace. */
static int encoder_v2_check_op(struct encoder_v2 *wire, const struct op *op, const char **why)
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
	int ret = encoder_v2_check_op(wire, op, why);

	if (ret || op->kind == OP_NONE)
		return ret;
	if (op->kind == OP_CPU_SAMPLE)
		return events_v2_put_sample(wire, op);
	if (op->p >= 0 && (size_t)op->p >= wire->nps &&
	    array_grow((void **)&wire->ps, &wire->nps, (size_t)op->p + 1, sizeof(*wire->ps)))
		return -ENOMEM;
	stream = encoder_v2_open_stream(wire, op->m, now);
	if (!stream)
		return -ENOMEM;
	if (now < stream->last) {
		*why = "its time precedes that of the previous op on this thread";
		return -EINVAL;
	}
	at = (struct event_cursor){stream->data.bytes + stream->data.len, now - stream->last};
	events_v2_put(wire, op, &at);
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
	if (events_v2_put_alloc_info(wire))
		return error_set(err, ENOMEM, "no memory for generation %u", gen->number);
	if (dict_end(&wire->dict))
		return error_set(err, -wire->dict.failed, "cannot write the tables of generation %u: %s",
				 gen->number, strerror(-wire->dict.failed));
	return 0;
}

/* Encodes the sync batch. It comes first, so that readers can use a truncated generation. */
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
 * Returns the time of the tables' batches. Go's reader uses only the earliest batch time of a generation
 * (internal/trace/generation.go, minTs). The runtime's tracer writes the tables when a generation ends. This
 * encoder uses that time only if the generation ends idle, because the events then do not show its end.
 */
static uint64_t tables_time(const struct encoder_v2 *wire, const struct generation *gen)
{
	uint64_t last = gen->nops ? gen->ops[gen->nops - 1].time : gen->start;

	return gen->end > last && (gen->shows_end || gen->end - last >= IDLE_END_NS) ? to_units(gen->end)
										     : wire->time;
}

static int encoder_v2_begin(struct encoder_v2 *wire, const struct generation *gen)
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
	ret = encoder_v2_write_out(wire, &wire->head);
	if (!ret)
		ret = encoder_v2_write_out(wire, &wire->dict.string_table.out);
	if (!ret)
		ret = encoder_v2_write_out(wire, &wire->dict.stack_table.out);
	if (!ret)
		ret = encoder_v2_write_out(wire, &wire->samples.out);
	if (!ret)
		ret = encoder_v2_write_out(wire, &wire->body);
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
	ret = encoder_v2_begin(wire, gen);
	if (!ret)
		ret = put_sync(wire, gen);
	if (ret)
		return error_set(err, -ret, "no memory for generation %u", gen->number);
	ret = encode_ops(wire, gen, err);
	if (!ret)
		ret = write_generation(wire, err);
	/* Sequence numbers have advanced for unwritten events: readers would reject the next generation. */
	wire->failed = ret;
	return ret;
}
