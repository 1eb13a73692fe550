/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Turns records into tables and the events of each P: Go 1.21 src/internal/trace/parser.go (parseEvents). */
#include "trace/wire/read_v1.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/buffer.h"
#include "trace/wire/trace_v1.h"
#include "trace/wire/varint.h"

/* State carried from record to record. */
struct reading {
	struct v1_trace *trace;
	struct fault *fault;
	uint64_t offset;
	uint32_t p;   /* MAP64_NONE before the first batch */
	uint64_t *gs; /* by P: the goroutine running on it */
	size_t g_capacity;
	int64_t time, seq;
	uint64_t sampled; /* OR of the time deltas of CPU samples in this batch */
};

#define BAD(r, ...) fault_set((r)->fault, (r)->offset, __VA_ARGS__)

/* --- headers --- */

unsigned v1_format(const uint8_t *bytes, size_t n)
{
	static const char zero[] = "gotrace", head[] = "go 1.";
	static const struct {
		unsigned char format;
		char text[3];
	} known[] = {
		{WIRE_GO15, "5"},   {WIRE_GO17, "7"},   {WIRE_GO18, "8"},   {WIRE_GO19, "9"},
		{WIRE_GO110, "10"}, {WIRE_GO111, "11"}, {WIRE_GO119, "19"}, {WIRE_GO121, "21"},
	};

	if (n >= V0_HEADER_SIZE && memcmp(bytes, zero, sizeof(zero)) == 0)
		return WIRE_V0;
	if (n < V1_HEADER_SIZE || memcmp(bytes, head, sizeof(head) - 1) != 0)
		return WIRE_NONE;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char rest[V1_HEADER_SIZE] = "";
		size_t digits = strlen(known[i].text);

		memcpy(rest, known[i].text, digits);
		memcpy(rest + digits, " trace", 6);
		if (memcmp(bytes + 5, rest, V1_HEADER_SIZE - 5) == 0)
			return known[i].format;
	}
	return WIRE_NONE;
}

/* --- Ps --- */

/* Makes the P with this id the current one, to which the following events belong. Adds the P if it is new. */
static int select_p(struct reading *r, uint64_t id)
{
	struct v1_trace *trace = r->trace;
	uint32_t p = map64_find(&trace->p_index, id);

	if (p == MAP64_NONE) {
		p = (uint32_t)trace->nps;
		if (p == V1_MOST_PS)
			return BAD(r, "more than %d Ps", V1_MOST_PS);
		if (array_grow((void **)&trace->ps, &trace->p_capacity, trace->nps + 1, sizeof(*trace->ps)) ||
		    array_grow((void **)&r->gs, &r->g_capacity, trace->nps + 1, sizeof(*r->gs)) ||
		    map64_set(&trace->p_index, id, p))
			return -ENOMEM;
		trace->ps[trace->nps++] =
			(struct v1_proc){.id = (int64_t)id, .first = MAP64_NONE, .last = MAP64_NONE};
		r->gs[p] = 0;
	}
	r->p = p;
	return 0;
}

/* Ends the open piece at this offset. */
static void read_v1_end_piece(struct v1_trace *trace, uint64_t offset)
{
	if (trace->npieces)
		trace->pieces[trace->npieces - 1].end = offset;
}

/* Opens a piece at this offset: the records that follow belong to the P with this id. */
static int read_v1_begin_piece(struct reading *r, uint64_t id, uint64_t offset)
{
	struct v1_trace *trace = r->trace;
	uint32_t index = (uint32_t)trace->npieces;
	struct v1_proc *p;
	int ret = select_p(r, id);

	if (ret)
		return ret;
	if (trace->npieces >= MAP64_NONE - 1 || array_grow((void **)&trace->pieces, &trace->piece_capacity,
							   trace->npieces + 1, sizeof(*trace->pieces)))
		return -ENOMEM;
	read_v1_end_piece(trace, r->offset);
	trace->pieces[trace->npieces++] =
		(struct v1_piece){.offset = offset, .end = offset, .time = r->time, .next = MAP64_NONE};
	p = &trace->ps[r->p];
	if (p->last == MAP64_NONE)
		p->first = index;
	else
		trace->pieces[p->last].next = index;
	p->last = index;
	return 0;
}

static int read_v1_batch(struct reading *r, const struct v1_raw *raw)
{
	bool seq = r->trace->format == WIRE_GO15;

	if (raw->nvalues != (seq ? 3 : 2))
		return BAD(r, "Batch has %u values, expected %d", raw->nvalues, seq ? 3 : 2);
	if (r->trace->format >= WIRE_GO111 && raw->values[0] != UINT64_MAX && raw->values[0] > INT32_MAX)
		return BAD(r, "P %" PRIu64 " is larger than the maximum of %d", raw->values[0], INT32_MAX);
	r->seq = seq ? (int64_t)raw->values[1] : 0;
	r->time = (int64_t)raw->values[seq ? 2 : 1];
	r->sampled = 0;
	return read_v1_begin_piece(r, raw->values[0], raw->end);
}

/* --- tables --- */

static int read_frequency(struct reading *r, const struct v1_raw *raw)
{
	if (raw->nvalues != v1_lead(r->trace->format))
		return BAD(r, "Frequency has %u values, expected %u", raw->nvalues,
			   v1_lead(r->trace->format));
	if ((int64_t)raw->values[0] <= 0)
		return BAD(r, "the frequency is %" PRId64 ", expected a positive number of ticks per second",
			   (int64_t)raw->values[0]);
	r->trace->frequency = raw->values[0];
	return 0;
}

static int read_timer(struct reading *r, const struct v1_raw *raw)
{
	if (raw->nvalues != v1_lead(r->trace->format))
		return BAD(r, "TimerGoroutine has %u values, expected %u", raw->nvalues,
			   v1_lead(r->trace->format));
	return map64_set(&r->trace->timers, raw->values[0], 0);
}

static int read_v1_string(struct reading *r, const struct v1_raw *raw)
{
	struct v1_trace *trace = r->trace;

	/* Readers from Go 1.23 on use ids after the last one for their own strings. */
	if (trace->format >= WIRE_GO111 && raw->values[0] > UINT64_MAX - UINT32_MAX)
		return BAD(r, "string id %" PRIu64 " leaves no ids for the reader's own use", raw->values[0]);
	if (map64_find(&trace->string_index, raw->values[0]) != MAP64_NONE)
		return BAD(r, "duplicate string id %" PRIu64, raw->values[0]);
	if (array_grow((void **)&trace->strings, &trace->string_capacity, trace->nstrings + 1,
		       sizeof(*trace->strings)) ||
	    map64_set(&trace->string_index, raw->values[0], (uint32_t)trace->nstrings))
		return -ENOMEM;
	trace->strings[trace->nstrings++] = raw->text;
	return 0;
}

/* If an id repeats, the last stack is used. */
static int read_stack(struct reading *r, const struct v1_raw *raw)
{
	struct v1_trace *trace = r->trace;
	uint64_t id, frames;

	if (raw->nvalues < 2)
		return BAD(r, "Stack has %u values, expected at least 2", raw->nvalues);
	id = raw->values[0];
	frames = raw->values[1];
	if (frames > V1_FRAME_LIMIT)
		return BAD(r, "a stack of %" PRIu64 " frames, at most %d allowed", frames, V1_FRAME_LIMIT);
	if (raw->nvalues != 2 + frames * v1_frame_values(trace))
		return BAD(r, "Stack has %u values, expected %" PRIu64, raw->nvalues,
			   2 + frames * v1_frame_values(trace));
	if (id == 0 || frames == 0)
		return 0;
	if (array_grow((void **)&trace->stacks, &trace->stack_capacity, trace->nstacks + 1,
		       sizeof(*trace->stacks)) ||
	    map64_set(&trace->stack_index, id, (uint32_t)trace->nstacks))
		return -ENOMEM;
	trace->stacks[trace->nstacks++] = (struct v1_stack_record){.id = id, .offset = r->offset};
	return 0;
}

/* --- timed events --- */

static int add_placed(struct v1_placed **all, size_t *n, size_t *capacity, const struct v1_placed *one)
{
	if (array_grow((void **)all, capacity, *n + 1, sizeof(**all)))
		return -ENOMEM;
	(*all)[(*n)++] = *one;
	return 0;
}

/* In go 1.5, the end of a system call is written late and contains its real sequence number and time. */
static int64_t read_v1_number(const struct reading *r, const struct v1_raw *raw, struct v1_record *record)
{
	if (raw->type != V1_GO_SYS_EXIT)
		return r->seq;
	if (v1_arg(r->trace, raw, 2))
		record->time = (int64_t)v1_arg(r->trace, raw, 2);
	return (int64_t)v1_arg(r->trace, raw, 1);
}

/* Stores events whose order is not that of the batches: samples, and all events of formats before go 1.7. */
static int add_record(struct reading *r, const struct v1_raw *raw, struct v1_record *record)
{
	struct v1_trace *trace = r->trace;
	struct v1_placed placed = {.seq = trace->format == WIRE_GO15 ? read_v1_number(r, raw, record) : 0};

	if (trace->nrecords >= MAP64_NONE - 1)
		return BAD(r, "more than 4,294,967,294 events");
	trace->nrecords++;
	placed.record = *record;
	if (raw->type == V1_CPU_SAMPLE)
		return add_placed(&trace->samples, &trace->nsamples, &trace->sample_capacity, &placed);
	if (trace->format == WIRE_V0 || trace->format == WIRE_GO15)
		return add_placed(&trace->placed, &trace->nplaced, &trace->placed_capacity, &placed);
	return 0;
}

/* Readers up to Go 1.22 add a sample's delta to the time of later events; newer ones do not. */
static int check_delta(struct reading *r, const struct v1_raw *raw)
{
	if (raw->type == V1_CPU_SAMPLE)
		r->sampled |= raw->values[0];
	else if (r->sampled)
		return BAD(r, "%s follows a CPU sample that has a time delta: readers disagree on its time",
			   event_v1_name(raw->type, r->trace->format));
	return 0;
}

static int read_timed(struct reading *r, const struct event_v1_spec *spec, const struct v1_raw *raw)
{
	struct v1_trace *trace = r->trace;
	unsigned lead = v1_lead(trace->format), want = lead + event_v1_args(spec, trace->format);
	struct v1_record record = {.offset = r->offset, .p = r->p, .type = raw->type};

	if (raw->nvalues != want)
		return BAD(r, "%s has %u values, expected %u", event_v1_name(raw->type, trace->format),
			   raw->nvalues, want);
	if (check_delta(r, raw))
		return -EBADMSG;
	r->time = (int64_t)((uint64_t)r->time + raw->values[lead - 1]);
	r->seq = (int64_t)((uint64_t)r->seq + raw->values[0]);
	record.time = raw->type == V1_CPU_SAMPLE ? (int64_t)raw->values[1] : r->time;
	record.g = v1_whose(trace, raw, &r->gs[r->p]);
	trace->has_futile |= raw->type == V1_FUTILE_WAKEUP;
	return add_record(r, raw, &record);
}

/* Events before the first batch: old readers assume P 0 at time 0; readers from Go 1.23 on refuse them. */
static int need_p(struct reading *r, const struct v1_raw *raw)
{
	if (r->p != MAP64_NONE || raw->type == V1_BATCH || raw->type == V1_STRING)
		return 0;
	if (r->trace->format >= WIRE_GO111)
		return BAD(r, "%s precedes the first Batch", event_v1_name(raw->type, r->trace->format));
	return event_v1_spec(raw->type, r->trace->format)->timed ? read_v1_begin_piece(r, 0, r->offset) : 0;
}

static int read_v1_record(struct reading *r, const struct v1_raw *raw)
{
	const struct event_v1_spec *spec = event_v1_spec(raw->type, r->trace->format);
	int ret = need_p(r, raw);

	if (ret)
		return ret;
	if (spec->timed)
		return read_timed(r, spec, raw);
	r->trace->counts[raw->type]++;
	switch (raw->type) {
	case V1_BATCH:
		return read_v1_batch(r, raw);
	case V1_FREQUENCY:
		return read_frequency(r, raw);
	case V1_TIMER_GOROUTINE:
		return read_timer(r, raw);
	case V1_STRING:
		return read_v1_string(r, raw);
	default:
		return read_stack(r, raw);
	}
}

/* Reads all records up to the first broken one. */
static int read_records(struct reading *r)
{
	struct v1_trace *trace = r->trace;
	uint64_t at = trace->format == WIRE_V0 ? V0_HEADER_SIZE : V1_HEADER_SIZE;
	int ret = 0;

	while (at < trace->n && !ret) {
		struct v1_raw raw;

		r->offset = at;
		ret = v1_decode(trace, at, &raw, r->fault);
		if (!ret)
			ret = read_v1_record(r, &raw);
		if (!ret)
			at = raw.end;
	}
	read_v1_end_piece(trace, at);
	if (ret)
		return ret;
	if (!trace->nrecords)
		return fault_set(r->fault, trace->n, "the trace has no events");
	if (!trace->frequency)
		return fault_set(r->fault, trace->n, "the trace has no Frequency record");
	return 0;
}

/* Orders and checks also the part before a fault, because it may contain an earlier fault. */
static int read_v1_all(struct v1_trace *trace, struct fault *fault)
{
	struct reading r = {.trace = trace, .fault = fault, .p = MAP64_NONE};
	int torn = read_records(&r), ret;
	struct fault later = {0};

	free(r.gs);
	if (torn == -ENOMEM)
		return torn;
	trace->torn = torn != 0;
	ret = v1_order(trace, torn ? &later : fault);
	if (ret != -ENOMEM && v1_drop_futile(trace))
		ret = -ENOMEM;
	if (ret != -ENOMEM) {
		int checked = v1_check(trace, torn || ret ? &later : fault);

		ret = ret ? ret : checked;
	}
	return ret == -ENOMEM || !torn ? ret : torn;
}

int v1_read(const uint8_t *bytes, size_t n, struct v1_trace **trace, struct fault *fault)
{
	unsigned format = v1_format(bytes, n);
	int ret;

	*trace = NULL;
	if (format == WIRE_NONE)
		return fault_set(fault, 0, "bad file format: not a Go execution trace of go 1.5 to go 1.21");
	*trace = calloc(1, sizeof(**trace));
	if (!*trace)
		return -ENOMEM;
	**trace = (struct v1_trace){.bytes = bytes, .n = n, .format = format};
	ret = read_v1_all(*trace, fault);
	if (ret == -ENOMEM)
		fault_set(fault, 0, "no memory to read this trace");
	return ret;
}
