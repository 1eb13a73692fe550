/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Batches and tables of one generation, by the rules of Go 1.26 src/internal/trace/batch.go and
 * generation.go. Nothing is copied: strings and batches point into the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/buffer.h"
#include "trace/wire/check_tables.h"
#include "trace/wire/varint.h"

enum { MAX_STACK_FRAMES = 128, MAX_EXPERIMENT = 1 /* AllocFree; readers panic on others */, ALLOC_INFO = 1 };

int fault_set(struct fault *fault, uint64_t offset, const char *fmt, ...)
{
	va_list args;

	if (fault->error.text[0])
		return -EBADMSG;
	fault->offset = offset;
	va_start(args, fmt);
	vsnprintf(fault->error.text, sizeof(fault->error.text), fmt, args);
	va_end(args);
	return -EBADMSG;
}

/* --- position in a batch --- */

struct batch_reader {
	const uint8_t *p, *end;
	uint64_t offset; /* of the batch, for faults */
	struct fault *fault;
};

static int read_uv(struct batch_reader *r, uint64_t *v, const char *what)
{
	int n = get_uv(r->p, r->end, v);

	if (n > 0) {
		r->p += n;
		return 0;
	}
	return fault_set(r->fault, r->offset, "error reading %s: %s", what,
			 n == UV_END ? "unexpected EOF" : "varint overflows a 64-bit integer");
}

/* --- batch headers --- */

static enum batch_result read_header(struct batch_reader *r, struct batch *batch)
{
	uint64_t size;

	if (read_uv(r, &batch->gen, "batch gen") || read_uv(r, &batch->m, "batch M ID") ||
	    read_uv(r, &batch->time, "batch timestamp") || read_uv(r, &size, "batch size"))
		return BATCH_BAD;
	if (size > MAX_BATCH_DATA) {
		fault_set(r->fault, r->offset, "invalid batch size %" PRIu64 ", maximum is %d", size,
			  MAX_BATCH_DATA);
		return BATCH_BAD;
	}
	if (size > (uint64_t)(r->end - r->p)) {
		fault_set(r->fault, r->offset, "failed to read full batch: read %td but wanted %" PRIu64,
			  r->end - r->p, size);
		return BATCH_BAD;
	}
	batch->data = r->p;
	batch->size = (uint32_t)size;
	r->p += size;
	return BATCH_OK;
}

enum batch_result batch_read(const uint8_t *bytes, size_t n, size_t *pos, struct batch *batch,
			     struct fault *fault)
{
	struct batch_reader r = {.p = bytes + *pos, .end = bytes + n, .offset = *pos, .fault = fault};
	enum batch_result ret;
	uint8_t type;

	*batch = (struct batch){.next = MAP64_NONE, .offset = *pos};
	if (r.p == r.end)
		return BATCH_EOF;
	type = *r.p++;
	if (type == EV_END_OF_GENERATION) {
		batch->end_of_generation = true;
		*pos += 1;
		return BATCH_OK;
	}
	if (type != EV_EVENT_BATCH && type != EV_EXPERIMENTAL_BATCH) {
		fault_set(fault, *pos, "expected batch event, got event %u", type);
		return BATCH_BAD;
	}
	if (type == EV_EXPERIMENTAL_BATCH) {
		if (r.p == r.end) /* Go's reader treats this as the end of the file, too */
			return BATCH_EOF;
		batch->experiment = *r.p++;
	}
	ret = read_header(&r, batch);
	if (ret == BATCH_OK)
		*pos = (size_t)(r.p - bytes);
	return ret;
}

/* --- tables --- */

static int read_entry_type(struct batch_reader *r, unsigned type, const char *what)
{
	if (*r->p != type)
		return fault_set(r->fault, r->offset, "expected %s event, got %u", what, *r->p);
	r->p++;
	return 0;
}

static int chunk_add_text(struct chunk *chunk, struct batch_reader *r, uint64_t id, uint32_t len)
{
	if (id == 0 || map64_find(&chunk->strings, id) != MAP64_NONE)
		return fault_set(r->fault, r->offset, "multiple strings with the same ID: id=%" PRIu64, id);
	if (array_grow((void **)&chunk->texts, &chunk->text_capacity, chunk->ntexts + 1,
		       sizeof(*chunk->texts)) ||
	    map64_set(&chunk->strings, id, (uint32_t)chunk->ntexts))
		return -ENOMEM;
	chunk->texts[chunk->ntexts++] = (struct file_text){r->p, len};
	return 0;
}

static int add_strings(struct chunk *chunk, struct batch_reader *r)
{
	while (r->p < r->end) {
		uint64_t id, len;
		int ret = read_entry_type(r, EV_STRING, "string");

		if (ret || read_uv(r, &id, "string ID") || read_uv(r, &len, "string length"))
			return -EBADMSG;
		if (len > MAX_STRING_LEN)
			return fault_set(r->fault, r->offset,
					 "invalid string size %" PRIu64 ", maximum is %d", len,
					 MAX_STRING_LEN);
		if (len > (uint64_t)(r->end - r->p))
			return fault_set(r->fault, r->offset,
					 "failed to read full string: read %td but wanted %" PRIu64,
					 r->end - r->p, len);
		ret = chunk_add_text(chunk, r, id, (uint32_t)len);
		if (ret)
			return ret;
		r->p += len;
		chunk->events[EV_STRING]++;
	}
	return 0;
}

/* Frames are identified by PC; later frames with the same PC are ignored. */
static int add_frame(struct chunk *chunk, struct batch_reader *r, uint64_t stack)
{
	struct pc_frame frame = {.stack = stack, .offset = r->offset};
	uint64_t pc, line;

	if (read_uv(r, &pc, "a frame's PC") || read_uv(r, &frame.func, "a frame's funcID") ||
	    read_uv(r, &frame.file, "a frame's fileID") || read_uv(r, &line, "a frame's line"))
		return -EBADMSG;
	if (map64_find(&chunk->pcs, pc) != MAP64_NONE)
		return 0;
	if (array_grow((void **)&chunk->frames, &chunk->frame_capacity, chunk->nframes + 1,
		       sizeof(*chunk->frames)) ||
	    map64_set(&chunk->pcs, pc, (uint32_t)chunk->nframes))
		return -ENOMEM;
	chunk->frames[chunk->nframes++] = frame;
	return 0;
}

static int add_place(struct chunk *chunk, uint64_t id, const struct stack_place *place)
{
	if (array_grow((void **)&chunk->places, &chunk->place_capacity, chunk->nplaces + 1,
		       sizeof(*chunk->places)))
		return -ENOMEM;
	chunk->places[chunk->nplaces] = *place;
	return map64_set(&chunk->stacks, id, (uint32_t)chunk->nplaces++);
}

static int chunk_add_stack(struct chunk *chunk, struct batch_reader *r)
{
	struct stack_place place;
	uint64_t id, n;

	if (read_uv(r, &id, "stack ID") || read_uv(r, &n, "stack size"))
		return -EBADMSG;
	if (n > MAX_STACK_FRAMES)
		return fault_set(r->fault, r->offset, "invalid stack size %" PRIu64 ", maximum is %d", n,
				 MAX_STACK_FRAMES);
	place = (struct stack_place){.frames = r->p, .n = (uint32_t)n};
	for (uint64_t i = 0; i < n; i++) {
		int ret = add_frame(chunk, r, id);

		if (ret)
			return ret;
	}
	if (id == 0 || map64_find(&chunk->stacks, id) != MAP64_NONE)
		return fault_set(r->fault, r->offset, "multiple stacks with the same ID: id=%" PRIu64, id);
	chunk->events[EV_STACK]++;
	place.end = r->p;
	return add_place(chunk, id, &place);
}

static int add_stacks(struct chunk *chunk, struct batch_reader *r)
{
	while (r->p < r->end) {
		int ret = read_entry_type(r, EV_STACK, "stack");

		if (!ret)
			ret = chunk_add_stack(chunk, r);
		if (ret)
			return ret;
	}
	return 0;
}

static int add_samples(struct chunk *chunk, struct batch_reader *r)
{
	while (r->p < r->end) {
		struct wire_sample sample = {.offset = r->offset};
		uint64_t time;

		if (read_entry_type(r, EV_CPU_SAMPLE, "CPU sample") || read_uv(r, &time, "a sample's time") ||
		    read_uv(r, &sample.m, "a sample's M") || read_uv(r, &sample.p, "a sample's P") ||
		    read_uv(r, &sample.g, "a sample's G") || read_uv(r, &sample.stack, "a sample's stack"))
			return -EBADMSG;
		sample.time = (int64_t)time;
		if (array_grow((void **)&chunk->samples, &chunk->sample_capacity, chunk->nsamples + 1,
			       sizeof(*chunk->samples)))
			return -ENOMEM;
		chunk->samples[chunk->nsamples++] = sample;
		chunk->events[EV_CPU_SAMPLE]++;
	}
	return 0;
}

static int set_frequency(struct chunk *chunk, struct batch_reader *r)
{
	uint64_t freq;

	if (chunk->freq != 0)
		return fault_set(r->fault, r->offset, "found multiple frequency events");
	if (read_uv(r, &freq, "the frequency"))
		return -EBADMSG;
	chunk->freq = 1.0 / ((double)freq / 1e9);
	return 0;
}

static int chunk_set_clock(struct chunk *chunk, struct batch_reader *r, uint64_t time)
{
	struct clock *clock = &chunk->clock;

	if (chunk->has_clock)
		return fault_set(r->fault, r->offset, "found multiple clock snapshot events");
	chunk->has_clock = true;
	clock->time = time;
	if (read_uv(r, &clock->dt, "the snapshot's time") ||
	    read_uv(r, &clock->mono, "the snapshot's mono") ||
	    read_uv(r, &clock->sec, "the snapshot's sec") || read_uv(r, &clock->nsec, "the snapshot's nsec"))
		return -EBADMSG;
	return 0;
}

static int set_sync(struct chunk *chunk, struct batch_reader *r, unsigned version, uint64_t time)
{
	while (r->p < r->end) {
		uint8_t type = *r->p++;
		int ret;

		if (type == EV_FREQUENCY)
			ret = set_frequency(chunk, r);
		else if (type == EV_CLOCK_SNAPSHOT && version >= WIRE_GO125)
			ret = chunk_set_clock(chunk, r, time);
		else
			ret = fault_set(r->fault, r->offset,
					"expected frequency or clock snapshot event, got %u", type);
		if (ret)
			return ret;
		chunk->events[type]++;
	}
	return 0;
}

/* --- the generation --- */

static int add_thread_batch(struct chunk *chunk, const struct batch *batch)
{
	uint32_t index = (uint32_t)chunk->nbatches;
	uint32_t thread = map64_find(&chunk->threads, batch->m);

	if (array_grow((void **)&chunk->batches, &chunk->batch_capacity, chunk->nbatches + 1,
		       sizeof(*chunk->batches)) ||
	    array_grow((void **)&chunk->by_thread, &chunk->thread_capacity, chunk->nthreads + 1,
		       sizeof(*chunk->by_thread)))
		return -ENOMEM;
	chunk->batches[chunk->nbatches++] = *batch;
	if (thread != MAP64_NONE) {
		chunk->batches[chunk->by_thread[thread].last].next = index;
		chunk->by_thread[thread].last = index;
		return 0;
	}
	if (map64_set(&chunk->threads, batch->m, (uint32_t)chunk->nthreads))
		return -ENOMEM;
	chunk->by_thread[chunk->nthreads++] = (struct thread_batches){batch->m, index, index};
	return 0;
}

/* Records the units of AllocFree ids (Go 1.23 runtime/traceallocfree.go, 1.26: kind 1) for later use. */
static void note_heap(struct chunk *chunk, const struct batch *batch)
{
	const uint8_t *p = batch->data, *end = p + batch->size;
	uint64_t heap[4];

	if (p == end || *p++ != ALLOC_INFO)
		return;
	for (unsigned i = 0; i < 4; i++) {
		int n = get_uv(p, end, &heap[i]);

		if (n <= 0)
			return;
		p += n;
	}
	memcpy(chunk->heap, heap, sizeof(heap));
	chunk->has_heap = true;
}

static int add_experiment(struct chunk *chunk, const struct batch *batch, struct fault *fault)
{
	if (batch->experiment > MAX_EXPERIMENT)
		return fault_set(fault, batch->offset, "unknown experiment %u", batch->experiment);
	note_heap(chunk, batch);
	return 0;
}

/* Counts the batch as an event, and likewise the event type that begins its data. */
static void count_batch(struct chunk *chunk, const struct batch *batch, unsigned type)
{
	chunk->events[batch->experiment ? EV_EXPERIMENTAL_BATCH : EV_EVENT_BATCH]++;
	if (type == EV_STRINGS || type == EV_STACKS || type == EV_CPU_SAMPLES || type == EV_SYNC)
		chunk->events[type]++;
}

int chunk_add(struct chunk *chunk, const struct batch *batch, unsigned version, struct fault *fault)
{
	unsigned type = batch->size && !batch->experiment ? batch->data[0] : 0;
	struct batch_reader r = {batch->data + 1, batch->data + batch->size, batch->offset, fault};

	if (chunk->min_time == 0 || batch->time < chunk->min_time)
		chunk->min_time = batch->time;
	if (batch->time > chunk->max_time)
		chunk->max_time = batch->time;
	count_batch(chunk, batch, type);
	if (type == EV_STRINGS)
		return add_strings(chunk, &r);
	if (type == EV_STACKS)
		return add_stacks(chunk, &r);
	if (type == EV_CPU_SAMPLES)
		return add_samples(chunk, &r);
	if (type == EV_SYNC && version >= WIRE_GO125)
		return set_sync(chunk, &r, version, batch->time);
	if (type == EV_FREQUENCY && version < WIRE_GO125) {
		r.p--;
		return set_sync(chunk, &r, version, batch->time);
	}
	if (batch->experiment)
		return add_experiment(chunk, batch, fault);
	if (type == EV_END_OF_GENERATION)
		return fault_set(fault, batch->offset, "end of generation inside a batch");
	return add_thread_batch(chunk, batch);
}

bool chunk_has_string(const struct chunk *chunk, uint64_t id)
{
	return id == 0 || map64_find(&chunk->strings, id) != MAP64_NONE;
}

bool chunk_has_stack(const struct chunk *chunk, uint64_t id)
{
	return id == 0 || map64_find(&chunk->stacks, id) != MAP64_NONE;
}

struct file_text chunk_text(const struct chunk *chunk, uint64_t id)
{
	uint32_t index = id ? map64_find(&chunk->strings, id) : MAP64_NONE;

	return index == MAP64_NONE ? (struct file_text){NULL, 0} : chunk->texts[index];
}

/* Converts as amd64 does: an out-of-range value becomes INT64_MIN. */
int64_t chunk_ns(const struct chunk *chunk, uint64_t units)
{
	double ns = (double)units * chunk->freq;

	return ns >= 0 && ns < 9223372036854775808.0 ? (int64_t)ns : INT64_MIN;
}

int chunk_check(struct chunk *chunk, unsigned version, struct fault *fault)
{
	if (chunk->freq == 0)
		return fault_set(fault, chunk->offset, "no frequency event found");
	if (version >= WIRE_GO125 && !chunk->has_clock)
		return fault_set(fault, chunk->offset, "no clock snapshot event found");
	for (size_t i = 0; i < chunk->nframes; i++) {
		const struct pc_frame *frame = &chunk->frames[i];

		if (!chunk_has_string(chunk, frame->func))
			return fault_set(fault, frame->offset,
					 "found invalid func string ID %" PRIu64 " for stack %" PRIu64,
					 frame->func, frame->stack);
		if (!chunk_has_string(chunk, frame->file))
			return fault_set(fault, frame->offset,
					 "found invalid file string ID %" PRIu64 " for stack %" PRIu64,
					 frame->file, frame->stack);
	}
	for (size_t i = 0; i < chunk->nsamples; i++)
		if (!chunk_has_stack(chunk, chunk->samples[i].stack))
			return fault_set(fault, chunk->samples[i].offset,
					 "found invalid stack ID %" PRIu64 " for a CPU sample",
					 chunk->samples[i].stack);
	for (size_t i = 0; i < chunk->nsamples; i++)
		chunk->samples[i].time = chunk_ns(chunk, (uint64_t)chunk->samples[i].time);
	return 0;
}

void chunk_reset(struct chunk *chunk)
{
	map64_free(&chunk->strings);
	map64_free(&chunk->stacks);
	map64_free(&chunk->pcs);
	map64_free(&chunk->threads);
	chunk->ntexts = chunk->nframes = chunk->nbatches = chunk->nthreads = chunk->nsamples = 0;
	chunk->nplaces = 0;
	chunk->number = chunk->min_time = chunk->max_time = chunk->offset = chunk->end = 0;
	chunk->freq = 0;
	chunk->has_clock = chunk->has_heap = false;
	memset(chunk->events, 0, sizeof(chunk->events));
}

void chunk_free(struct chunk *chunk)
{
	chunk_reset(chunk);
	free(chunk->texts);
	free(chunk->frames);
	free(chunk->batches);
	free(chunk->by_thread);
	free(chunk->samples);
	free(chunk->places);
	*chunk = (struct chunk){0};
}
