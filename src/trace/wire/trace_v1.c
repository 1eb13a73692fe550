/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Access to the contents of a v1 or v0 file: ordered events, strings, stacks. */
#include "trace/wire/trace_v1.h"

#include <stdlib.h>
#include <string.h>

#include "trace/wire/varint.h"

void v1_free(struct v1_trace *trace)
{
	if (!trace)
		return;
	map64_free(&trace->p_index);
	map64_free(&trace->string_index);
	map64_free(&trace->stack_index);
	map64_free(&trace->timers);
	free(trace->pieces);
	free(trace->ps);
	free(trace->samples);
	free(trace->placed);
	free(trace->order);
	free(trace->drop);
	free(trace->walk.streams);
	free(trace->strings);
	free(trace->stacks);
	free(trace);
}

unsigned v1_trace_format(const struct v1_trace *trace)
{
	return trace->format;
}

uint64_t v1_trace_frequency(const struct v1_trace *trace)
{
	return trace->frequency;
}

uint64_t v1_count(const struct v1_trace *trace)
{
	return trace->norder;
}

size_t v1_procs(const struct v1_trace *trace)
{
	return trace->nps;
}

bool v1_is_timer(const struct v1_trace *trace, uint64_t g)
{
	return map64_find(&trace->timers, g) != MAP64_NONE;
}

bool v1_has_string(const struct v1_trace *trace, uint64_t id)
{
	return id == 0 || map64_find(&trace->string_index, id) != MAP64_NONE;
}

bool v1_has_stack(const struct v1_trace *trace, uint64_t id)
{
	return map64_find(&trace->stack_index, id) != MAP64_NONE;
}

struct v1_text v1_string(const struct v1_trace *trace, uint64_t id)
{
	uint32_t index = map64_find(&trace->string_index, id);

	return index == MAP64_NONE ? (struct v1_text){NULL, 0} : trace->strings[index];
}

/* Converts in floating point, as readers do. An out-of-range value becomes INT64_MIN. */
static int64_t to_ns(const struct v1_trace *trace, int64_t ticks)
{
	int64_t span = (int64_t)((uint64_t)ticks - (uint64_t)trace->start);
	double ns = (double)span * (trace->frequency ? 1e9 / (double)trace->frequency : 1);

	return ns >= -9223372036854775808.0 && ns < 9223372036854775808.0 ? (int64_t)ns : INT64_MIN;
}

bool v1_next(struct v1_trace *trace, struct v1_event *event)
{
	const struct event_v1_spec *spec;
	struct v1_record record;
	const struct v1_raw *raw;
	unsigned n;

	if (!v1_walk_next(trace, &record, &raw))
		return false;
	spec = event_v1_spec(raw->type, trace->format);
	n = event_v1_args(spec, trace->format);
	*event = (struct v1_event){.offset = record.offset,
				   .type = record.type,
				   .time = to_ns(trace, record.time),
				   .ticks = record.time,
				   .p = trace->ps[record.p].id,
				   .proc = record.p,
				   .g = record.g,
				   .nargs = event_v1_has_stack(spec) && n ? n - 1 : n,
				   .message = raw->text};
	if (record.type == V1_CPU_SAMPLE)
		event->p = (int64_t)v1_arg(trace, raw, 1);
	for (unsigned arg = 0; arg < event->nargs; arg++) {
		event->args[arg] = v1_arg(trace, raw, arg);
		if (spec->args[arg].role == ARG_STRING)
			event->text = v1_string(trace, event->args[arg]);
	}
	if (event->nargs < n)
		event->stack = v1_arg(trace, raw, event->nargs);
	return true;
}

/* Reads a value of a record that was decoded before, and returns the position after it. */
static const uint8_t *skip_value(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	int n = get_uv(p, end, v);

	return p + (n > 0 ? n : 0);
}

size_t v1_stack(const struct v1_trace *trace, uint64_t id, struct v1_frame *frames, size_t most)
{
	uint32_t index = map64_find(&trace->stack_index, id);
	const uint8_t *p, *end = trace->bytes + trace->n;
	uint64_t n = 0, value;

	if (index == MAP64_NONE)
		return 0;
	p = trace->bytes + trace->stacks[index].offset;
	if (*p++ >> V1_COUNT_SHIFT == V1_COUNT_LONG)
		p = skip_value(p, end, &value);
	p = skip_value(p, end, &value);
	p = skip_value(p, end, &n);
	for (uint64_t i = 0; i < n && i < most; i++) {
		struct v1_frame frame = {.pc = 0};
		uint64_t func = 0, file = 0;

		p = skip_value(p, end, &frame.pc);
		if (v1_frame_values(trace) > 1) {
			p = skip_value(p, end, &func);
			p = skip_value(p, end, &file);
			p = skip_value(p, end, &frame.line);
		}
		frame.func = v1_string(trace, func);
		frame.file = v1_string(trace, file);
		frames[i] = frame;
	}
	return (size_t)(n < most ? n : most);
}

void v1_summarize(const struct v1_trace *trace, struct v1_summary *summary)
{
	*summary = (struct v1_summary){
		.goroutines = trace->goroutines, .threads = trace->threads, .dropped = trace->dropped};
	memcpy(summary->events, trace->counts, sizeof(summary->events));
	for (size_t i = 0; i < trace->nps; i++)
		summary->procs += trace->ps[i].id >= 0;
	if (trace->norder)
		summary->last_time = to_ns(trace, trace->last);
}
