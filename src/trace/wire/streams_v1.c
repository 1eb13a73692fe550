/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Iterates over the events of a v1 or v0 file: those of one P as in its batches, or all in order. */
#include <stdlib.h>
#include <string.h>

#include "trace/wire/trace_v1.h"

/* --- one P --- */

uint64_t v1_whose(const struct v1_trace *trace, const struct v1_raw *raw, uint64_t *g)
{
	uint64_t before = *g;

	switch (raw->type) {
	case V1_GO_START:
	case V1_GO_START_LOCAL:
	case V1_GO_START_LABEL:
		*g = v1_arg(trace, raw, 0);
		return *g;
	case V1_GO_END:
	case V1_GO_STOP:
	case V1_GO_SCHED:
	case V1_GO_PREEMPT:
	case V1_GO_SLEEP:
	case V1_GO_BLOCK:
	case V1_GO_BLOCK_SEND:
	case V1_GO_BLOCK_RECV:
	case V1_GO_BLOCK_SELECT:
	case V1_GO_BLOCK_SYNC:
	case V1_GO_BLOCK_COND:
	case V1_GO_BLOCK_NET:
	case V1_GO_BLOCK_GC:
	case V1_GO_SYS_BLOCK:
		*g = 0;
		return before;
	case V1_GO_SYS_EXIT:
	case V1_GO_WAITING:
	case V1_GO_IN_SYSCALL:
		return v1_arg(trace, raw, 0);
	case V1_CPU_SAMPLE:
		return v1_arg(trace, raw, 2);
	default:
		return before;
	}
}

struct v1_stream v1_stream_of(const struct v1_trace *trace, uint32_t p)
{
	uint32_t first = trace->ps[p].first;
	struct v1_stream stream = {.p = p, .piece = first};

	if (first != MAP64_NONE) {
		stream.at = trace->pieces[first].offset;
		stream.time = trace->pieces[first].time;
	}
	return stream;
}

/* Advances to the batch with the next record. Returns false at the end. */
static bool find_piece(const struct v1_trace *trace, struct v1_stream *stream)
{
	while (stream->piece != MAP64_NONE && stream->at == trace->pieces[stream->piece].end) {
		stream->piece = trace->pieces[stream->piece].next;
		if (stream->piece != MAP64_NONE) {
			stream->at = trace->pieces[stream->piece].offset;
			stream->time = trace->pieces[stream->piece].time;
		}
	}
	return stream->piece != MAP64_NONE;
}

bool v1_stream_next(const struct v1_trace *trace, struct v1_stream *stream, struct v1_record *record,
		    struct v1_raw *raw)
{
	while (find_piece(trace, stream)) {
		uint64_t offset = stream->at;

		v1_decode_again(trace, offset, raw);
		stream->at = raw->end;
		if (!event_v1_spec(raw->type, trace->format)->timed)
			continue;
		stream->time = (int64_t)((uint64_t)stream->time + raw->values[v1_lead(trace->format) - 1]);
		if (raw->type == V1_CPU_SAMPLE)
			continue;
		*record = (struct v1_record){
			.offset = offset, .time = stream->time, .p = stream->p, .type = raw->type};
		record->g = v1_whose(trace, raw, &stream->g);
		return true;
	}
	return false;
}

bool v1_real_time(const struct v1_trace *trace, const struct v1_raw *raw, int64_t *real)
{
	*real = v1_full_form(raw->type) == V1_GO_SYS_EXIT ? (int64_t)v1_arg(trace, raw, 2) : 0;
	return *real != 0;
}

uint8_t v1_full_form(uint8_t type)
{
	switch (type) {
	case V1_GO_START_LOCAL:
		return V1_GO_START;
	case V1_GO_UNBLOCK_LOCAL:
		return V1_GO_UNBLOCK;
	case V1_GO_SYS_EXIT_LOCAL:
		return V1_GO_SYS_EXIT;
	default:
		return type;
	}
}

/* --- all Ps --- */

void v1_rewind(struct v1_trace *trace)
{
	struct v1_stream *streams = trace->walk.streams;

	trace->walk = (struct v1_walk){.streams = streams};
	for (uint32_t p = 0; streams && p < trace->nps; p++)
		streams[p] = v1_stream_of(trace, p);
}

static uint32_t trace_v1_p_of(const struct v1_trace *trace, uint64_t event)
{
	uint32_t p = 0;

	memcpy(&p, trace->order + event * trace->order_width, trace->order_width);
	return p;
}

/* Reads the next event of v1_trace.order into the walk. Returns false if there is none. */
static bool read_plain(struct v1_trace *trace)
{
	struct v1_walk *walk = &trace->walk;
	int64_t real;
	uint32_t p;

	if (walk->has_next || walk->plain == trace->nplain)
		return walk->has_next;
	p = trace_v1_p_of(trace, walk->plain);
	walk->has_next = true;
	if (p == trace->nps) {
		walk->next = trace->samples[walk->sample++].record;
		v1_decode_again(trace, walk->next.offset, &walk->raw);
		return true;
	}
	do
		walk->has_next = v1_stream_next(trace, &walk->streams[p], &walk->next, &walk->raw);
	while (walk->has_next && v1_real_time(trace, &walk->raw, &real));
	return walk->has_next;
}

/* Returns true if the next event is that of v1_trace.placed. */
static bool is_placed(struct v1_trace *trace)
{
	const struct v1_walk *walk = &trace->walk;
	const struct v1_placed *placed;

	if (!read_plain(trace))
		return true;
	if (walk->placed == trace->nplaced)
		return false;
	placed = &trace->placed[walk->placed];
	return placed->record.time < walk->next.time ||
	       (placed->record.time == walk->next.time && placed->before <= walk->plain);
}

static void trace_v1_step(struct v1_trace *trace, struct v1_record *record, const struct v1_raw **raw)
{
	struct v1_walk *walk = &trace->walk;

	if (is_placed(trace)) {
		*record = trace->placed[walk->placed++].record;
		v1_decode_again(trace, record->offset, &walk->placed_raw);
		*raw = &walk->placed_raw;
	} else {
		*record = walk->next;
		*raw = &walk->raw;
		walk->plain++;
		walk->has_next = false;
	}
	record->type = v1_full_form(record->type);
}

bool v1_walk_next(struct v1_trace *trace, struct v1_record *record, const struct v1_raw **raw)
{
	struct v1_walk *walk = &trace->walk;

	if (walk->events == trace->norder)
		return false;
	do
		trace_v1_step(trace, record, raw);
	while (trace->drop && trace->drop[walk->all++]);
	walk->events++;
	return true;
}
