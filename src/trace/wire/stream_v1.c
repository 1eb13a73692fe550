/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/wire/stream_v1.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEADING = 2, MAX_VALUES = MAX_LEADING + V1_MAX_EVENT_ARGS };

/*
 * Time unit: 1 ns, except in formats whose reader multiplied a trace's whole span by 1e9 in 64 bits (Go 1.5.4
 * src/internal/trace/parser.go). There, a unit of 64 ns allows ten minutes; 1 ns would allow nine seconds.
 */
static uint64_t unit_ns(const struct file_v1 *file)
{
	return file->format <= WIRE_GO15 ? OP_UNIT_NS : 1;
}

uint64_t file_v1_ticks(const struct file_v1 *file, uint64_t ns)
{
	return ns / unit_ns(file);
}

struct stream_v1 *file_v1_stream(struct file_v1 *file, int32_t p)
{
	size_t index = (size_t)(p + 1);

	if (index >= file->nstreams &&
	    array_grow((void **)&file->streams, &file->nstreams, index + 1, sizeof(*file->streams))) {
		file->failed = -ENOMEM;
		return NULL;
	}
	return &file->streams[index];
}

/* --- events --- */

/*
 * Readers of v0 sort by time alone, so no two events may have the same time. Readers of go 1.5 sort by the
 * global sequence number.
 */
static void next_moment(struct file_v1 *file, uint64_t ns)
{
	uint64_t ticks = file_v1_ticks(file, ns);
	uint64_t least = file->format == WIRE_V0 ? file->ticks + 1 : file->ticks;

	file->ticks = ticks > least ? ticks : least;
	file->seq++;
}

static uint8_t *stream_v1_put_values(uint8_t *p, const uint64_t *values, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p = put_uv(p, values[i]);
	return p;
}

/*
 * The first byte holds the type and the argument count. With three or more arguments, the length of all
 * values follows, instead of the count.
 */
static uint8_t *put_event(uint8_t *p, enum event_v1_type type, unsigned nargs, const uint64_t *values,
			  unsigned nvalues)
{
	uint8_t bytes[MAX_VALUES * MAX_UV];
	size_t len;

	if (nargs < V1_COUNT_LONG) {
		*p++ = (uint8_t)(type | nargs << V1_COUNT_SHIFT);
		return stream_v1_put_values(p, values, nvalues);
	}
	len = (size_t)(stream_v1_put_values(bytes, values, nvalues) - bytes);
	*p++ = (uint8_t)(type | V1_COUNT_LONG << V1_COUNT_SHIFT);
	p = put_uv(p, len);
	memcpy(p, bytes, len);
	return p + len;
}

/* Returns p's open batch, with `space` bytes reserved. */
static struct stream_v1 *file_v1_open_stream(struct file_v1 *file, int32_t p, size_t space)
{
	struct stream_v1 *stream = file_v1_stream(file, p);

	if (!stream)
		return NULL;
	if (buffer_reserve(&stream->data, space)) {
		file->failed = -ENOMEM;
		return NULL;
	}
	if (!stream->data.len) {
		stream->first_ticks = stream->ticks = file->ticks;
		stream->first_seq = stream->seq = file->seq;
	}
	return stream;
}

bool file_v1_message(struct file_v1 *file, int32_t p, uint64_t ns, enum event_v1_type type,
		     const uint64_t *args, unsigned n, const char *text, size_t len)
{
	const struct event_v1_spec *spec = event_v1_spec(type, file->format);
	uint64_t values[MAX_VALUES];
	struct stream_v1 *stream;
	unsigned nvalues = 0;
	uint64_t before;
	uint8_t *at;

	if (!spec || file->failed)
		return false;
	if (ns != V1_SAME_TIME)
		next_moment(file, ns);
	stream = file_v1_open_stream(file, p, 2 + (MAX_VALUES + 2) * MAX_UV + len);
	if (!stream)
		return false;
	before = stream->ticks;
	if (file->format == WIRE_GO15)
		values[nvalues++] = file->seq - stream->seq;
	if (ns != V1_SAME_TIME)
		stream->ticks = file->ticks;
	values[nvalues++] = stream->ticks - before;
	for (unsigned i = 0; i < n; i++)
		values[nvalues++] = args[i];
	at = put_event(stream->data.bytes + stream->data.len, type, n, values, nvalues);
	if (text) {
		at = put_uv(at, len);
		memcpy(at, text, len);
		at += len;
	}
	stream->data.len = (size_t)(at - stream->data.bytes);
	stream->seq = file->seq;
	return true;
}

bool file_v1_event(struct file_v1 *file, int32_t p, uint64_t ns, enum event_v1_type type,
		   const uint64_t *args, unsigned n)
{
	return file_v1_message(file, p, ns, type, args, n, NULL, 0);
}

/* --- untimed records --- */

static uint8_t *put_record(const struct file_v1 *file, uint8_t *p, enum event_v1_type type, uint64_t value)
{
	*p++ = (uint8_t)type;
	p = put_uv(p, value);
	if (file->format == WIRE_GO15)
		*p++ = 0;
	return p;
}

void file_v1_record(struct file_v1 *file, enum event_v1_type type, uint64_t value)
{
	uint8_t *p;

	if (buffer_reserve(&file->tables, 2 + MAX_UV)) {
		file->failed = -ENOMEM;
		return;
	}
	p = put_record(file, file->tables.bytes + file->tables.len, type, value);
	file->tables.len = (size_t)(p - file->tables.bytes);
}

/* NO_P is written as -1 in 64 bits. */
static uint8_t *put_batch(const struct file_v1 *file, uint8_t *p, int32_t proc, uint64_t seq, uint64_t ticks)
{
	*p++ = V1_BATCH | 1 << V1_COUNT_SHIFT;
	p = put_uv(p, (uint64_t)(int64_t)proc);
	if (file->format == WIRE_GO15)
		p = put_uv(p, seq);
	return put_uv(p, ticks);
}

static void file_v1_write_out(struct file_v1 *file, const void *bytes, size_t n)
{
	if (!file->failed && n)
		file->failed = file->out.write(file->out.ctx, bytes, n);
}

/*
 * Writes the header, an empty batch and Frequency. Readers of Go 1.23 and later require a batch before any
 * other record, and a truncated file needs its frequency.
 */
static void write_beginning(struct file_v1 *file)
{
	uint8_t bytes[V1_HEADER_SIZE + 1 + 3 * MAX_UV + 2 + MAX_UV] = {0}, *p = bytes;
	const char *header = wire_format_header(file->format);

	memcpy(p, header, strlen(header));
	p += file->format == WIRE_V0 ? V0_HEADER_SIZE : V1_HEADER_SIZE;
	p = put_batch(file, p, NO_P, 0, file->ticks);
	p = put_record(file, p, V1_FREQUENCY, 1000000000 / unit_ns(file));
	file_v1_write_out(file, bytes, (size_t)(p - bytes));
	file->begun = true;
}

static void write_batch(struct file_v1 *file, int32_t p, struct stream_v1 *stream)
{
	uint8_t head[1 + 3 * MAX_UV];

	if (!stream->data.len)
		return;
	file_v1_write_out(file, head,
			  (size_t)(put_batch(file, head, p, stream->first_seq, stream->first_ticks) - head));
	file_v1_write_out(file, stream->data.bytes, stream->data.len);
	stream->data.len = 0;
}

int file_v1_flush(struct file_v1 *file)
{
	if (!file->begun)
		write_beginning(file);
	file_v1_write_out(file, file->tables.bytes, file->tables.len);
	file->tables.len = 0;
	for (size_t i = 0; i < file->nstreams; i++)
		write_batch(file, (int32_t)i - 1, &file->streams[i]);
	return file->failed;
}

void file_v1_free(struct file_v1 *file)
{
	for (size_t i = 0; i < file->nstreams; i++)
		buffer_free(&file->streams[i].data);
	free(file->streams);
	buffer_free(&file->tables);
}
