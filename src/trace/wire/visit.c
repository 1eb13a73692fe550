/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/wire/visit.h"

#include "trace/wire/check_tables.h"
#include "trace/wire/varint.h"

struct wire_view chunk_view(const struct chunk *chunk, unsigned version)
{
	const struct clock *clock = &chunk->clock;

	return (struct wire_view){
		.version = version,
		.number = chunk->number,
		.offset = chunk->offset,
		.start = chunk_ns(chunk, chunk->min_time),
		.until = chunk_ns(chunk, chunk->max_time),
		.has_clock = chunk->has_clock,
		.clock_time = chunk->has_clock ? chunk_ns(chunk, clock->time + clock->dt) : 0,
		.mono_ns = clock->mono,
		.wall_sec = clock->sec,
		.wall_nsec = clock->nsec,
		.has_heap = chunk->has_heap,
		.heap_base = chunk->heap[0],
		.page_bytes = chunk->heap[1],
		.stack_bytes = chunk->heap[3],
		.samples = chunk->samples,
		.nsamples = chunk->nsamples,
		.chunk = chunk,
	};
}

const char *wire_view_string(const struct wire_view *view, uint64_t id, size_t *len)
{
	struct file_text text = chunk_text(view->chunk, id);

	*len = text.len;
	return text.len ? (const char *)text.bytes : "";
}

/* The varints were validated when the tables were read. */
static const uint8_t *visit_read_number(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	int n = get_uv(p, end, v);

	return n > 0 ? p + n : end;
}

size_t wire_view_stack(const struct wire_view *view, uint64_t id, struct wire_frame frames[MAX_FRAMES])
{
	uint32_t index = id ? map64_find(&view->chunk->stacks, id) : MAP64_NONE;
	const struct stack_place *place;
	const uint8_t *p;

	if (index == MAP64_NONE)
		return 0;
	place = &view->chunk->places[index];
	p = place->frames;
	for (uint32_t i = 0; i < place->n; i++) {
		p = visit_read_number(p, place->end, &frames[i].pc);
		p = visit_read_number(p, place->end, &frames[i].func);
		p = visit_read_number(p, place->end, &frames[i].file);
		p = visit_read_number(p, place->end, &frames[i].line);
	}
	return place->n;
}
