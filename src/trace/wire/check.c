/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads a trace generation by generation. Up to go 1.25, a generation ends where a batch of the next one
 * begins or where nothing valid follows. go 1.26 marks the end (Go 1.26 src/internal/trace/generation.go).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "trace/wire/check_merge.h"
#include "trace/wire/trace_v1.h"

struct trace_check {
	const uint8_t *bytes;
	size_t n, pos;
	unsigned version;
	struct chunk chunk;
	struct order order;
	struct event_merge merge;
	struct fault fault;
	struct wire_report *report;
};

/* Results of reading a generation. */
enum read_result {
	READ_BROKEN = -1, /* a fault that leaves nothing to check, or out of memory */
	READ_END = 0,     /* the file ends here */
	READ_WHOLE = 1,
	READ_TORN = 2, /* a fault after complete batches, which can still be checked */
};

static int trace_check_read_version(struct trace_check *check)
{
	static const char head[] = "go 1.", tail[] = " trace\0\0";
	unsigned version = 0;

	if (check->n >= HEADER_SIZE && memcmp(check->bytes, head, 5) == 0 &&
	    memcmp(check->bytes + 7, tail, sizeof(tail)) == 0)
		version = (unsigned)(check->bytes[5] - '0') * 10 + (unsigned)(check->bytes[6] - '0');
	check->version = version;
	check->report->version = version;
	switch (version) {
	case WIRE_GO122:
	case WIRE_GO123:
	case WIRE_GO125:
	case WIRE_GO126:
		check->pos = HEADER_SIZE;
		return 0;
	case 0:
		return fault_set(&check->fault, 0, "bad file format: not a Go execution trace?");
	default:
		return fault_set(&check->fault, 0, "unknown or unsupported trace version go 1.%u", version);
	}
}

static int file_batch(struct trace_check *check, const struct batch *batch)
{
	int ret = chunk_add(&check->chunk, batch, check->version, &check->fault);

	if (ret == -ENOMEM)
		fault_set(&check->fault, batch->offset, "no memory to check this trace");
	check->chunk.end = check->pos;
	return ret;
}

/* Refuses generation number 0. The first batch sets the number of the open generation. */
static int number_generation(struct trace_check *check, const struct batch *batch)
{
	if (batch->gen == 0)
		return fault_set(&check->fault, batch->offset, "invalid generation number 0");
	if (check->chunk.number == 0)
		check->chunk.number = batch->gen;
	return 0;
}

static bool ends_generation(const struct batch *batch)
{
	return batch->end_of_generation ||
	       (!batch->experiment && batch->size && batch->data[0] == EV_END_OF_GENERATION);
}

size_t wire_generation_end(const uint8_t *bytes, size_t n, size_t *pos)
{
	struct fault ignored = {0};
	struct batch batch;

	while (batch_read(bytes, n, pos, &batch, &ignored) == BATCH_OK) {
		if (ends_generation(&batch))
			return *pos;
	}
	return 0;
}

static enum read_result read_marked(struct trace_check *check)
{
	for (;;) {
		struct batch batch;

		switch (batch_read(check->bytes, check->n, &check->pos, &batch, &check->fault)) {
		case BATCH_EOF:
			if (!check->chunk.nbatches)
				return READ_END;
			fault_set(&check->fault, check->chunk.offset,
				  "incomplete generation found; trace likely truncated");
			return READ_BROKEN;
		case BATCH_BAD:
			return READ_BROKEN;
		case BATCH_OK:
			break;
		}
		if (ends_generation(&batch)) {
			check->chunk.events[EV_END_OF_GENERATION]++;
			check->chunk.end = check->pos;
			return READ_WHOLE;
		}
		if (number_generation(check, &batch))
			return READ_BROKEN;
		if (batch.gen != check->chunk.number) {
			fault_set(&check->fault, batch.offset,
				  "broken trace: missing end-of-generation event, or generations are "
				  "interleaved");
			return READ_BROKEN;
		}
		if (file_batch(check, &batch))
			return READ_BROKEN;
	}
}

static enum read_result torn(const struct trace_check *check)
{
	return check->chunk.number ? READ_TORN : READ_BROKEN;
}

static enum read_result read_unmarked(struct trace_check *check)
{
	for (;;) {
		size_t start = check->pos;
		struct batch batch;

		switch (batch_read(check->bytes, check->n, &check->pos, &batch, &check->fault)) {
		case BATCH_EOF:
			return check->chunk.number || !check->report->generations ? READ_WHOLE : READ_END;
		case BATCH_BAD:
			return torn(check);
		case BATCH_OK:
			break;
		}
		if (number_generation(check, &batch))
			return torn(check);
		if (batch.gen == check->chunk.number + 1) {
			check->pos = start;
			return READ_WHOLE;
		}
		if (batch.gen != check->chunk.number) {
			fault_set(&check->fault, batch.offset, "generations out of order");
			return READ_TORN;
		}
		if (file_batch(check, &batch))
			return READ_BROKEN;
	}
}

/* Adds a valid generation to the report. */
static void add_to_report(struct trace_check *check)
{
	struct wire_report *report = check->report;
	int64_t until = chunk_ns(&check->chunk, check->chunk.max_time); /* as in visit.c */

	report->generations++;
	report->valid_bytes = check->chunk.end;
	for (size_t i = 0; i < sizeof(report->events) / sizeof(report->events[0]); i++)
		report->events[i] += check->chunk.events[i];
	report->first_ns = (uint64_t)check->merge.first_time;
	report->last_ns = (uint64_t)(until > check->merge.last_time ? until : check->merge.last_time);
	report->goroutines = check->order.lives;
	report->procs = check->order.nps;
	report->threads = order_threads(&check->order);
}

static int begin_visit(struct trace_check *check)
{
	const struct wire_visitor *visitor = check->merge.visitor;
	struct wire_view view;

	if (!visitor || !visitor->begin)
		return 0;
	view = chunk_view(&check->chunk, check->version);
	view.last = check->pos == check->n;
	check->merge.stopped = visitor->begin(visitor->ctx, &view);
	return check->merge.stopped;
}

static int end_visit(struct trace_check *check)
{
	const struct wire_visitor *visitor = check->merge.visitor;

	if (visitor && visitor->end)
		check->merge.stopped = visitor->end(visitor->ctx);
	return check->merge.stopped;
}

/*
 * Checks a generation. If a fault cut it short, the result is that fault, unless its events are
 * inconsistent.
 */
static int check_generation(struct trace_check *check)
{
	struct fault tear = check->fault;
	int ret;

	check->fault = (struct fault){0};
	ret = chunk_check(&check->chunk, check->version, &check->fault);
	if (ret && tear.error.text[0]) {
		check->fault = tear;
		return -EBADMSG;
	}
	if (!ret)
		ret = begin_visit(check);
	if (!ret)
		ret = merge_events(&check->merge, &check->order, &check->chunk, check->version,
				   &check->fault);
	if (!ret)
		ret = end_visit(check);
	if (check->merge.stopped)
		return check->merge.stopped;
	if (ret == -ENOMEM)
		fault_set(&check->fault, check->chunk.offset, "no memory to check this trace");
	if (ret)
		return -EBADMSG;
	add_to_report(check);
	check->fault = tear;
	return tear.error.text[0] ? -EBADMSG : 0;
}

static int trace_check_all(struct trace_check *check)
{
	enum read_result result;
	int ret = 0;

	if (check->version >= WIRE_GO126)
		check->report->valid_bytes = HEADER_SIZE; /* a header alone is a valid file */
	do {
		chunk_reset(&check->chunk);
		check->chunk.offset = check->pos;
		result = check->version >= WIRE_GO126 ? read_marked(check) : read_unmarked(check);
		if (result == READ_BROKEN)
			return -EBADMSG;
		if (result != READ_END)
			ret = check_generation(check);
	} while (!ret && result == READ_WHOLE);
	return ret;
}

int wire_visit(const uint8_t *bytes, size_t n, const struct wire_visitor *visitor, struct wire_report *report)
{
	struct trace_check check = {.bytes = bytes, .n = n, .report = report};
	int ret;

	*report = (struct wire_report){.total_bytes = n};
	/* Limits the time spent on crafted files. Real traces need about one step per five-byte event. */
	check.merge.visitor = visitor;
	check.merge.budget = (1ull << 26) + 64 * (uint64_t)n;
	ret = trace_check_read_version(&check);
	if (!ret && order_init(&check.order))
		ret = fault_set(&check.fault, 0, "no memory to check this trace");
	if (!ret)
		ret = trace_check_all(&check);
	if (ret) {
		report->error = check.fault.error;
		report->error_offset = check.fault.offset;
	} else {
		report->valid_bytes = n;
	}
	chunk_free(&check.chunk);
	order_free(&check.order);
	return ret;
}

int wire_check(const uint8_t *bytes, size_t n, struct wire_report *report)
{
	if (v1_format(bytes, n) != WIRE_NONE)
		return wire_check_v1(bytes, n, report);
	return wire_visit(bytes, n, NULL, report);
}
