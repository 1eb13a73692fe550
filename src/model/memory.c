/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Spans of the heap and stacks of goroutines (--alloc). What is in use is kept
 * by address, so that the ops make sense whatever was lost: nothing is
 * allocated twice, and nothing freed that is not there.
 */
#include "state.h"

/* Values of the maps: in use, in the snapshot in hand (scratch), and the time in ms: 12 days until it wraps.
 */
enum { IN_USE = 1u << 31, LISTED = 1 << 30, TIME_MASK = LISTED - 1 };

/* pallocChunkBytes, by which the heap grows: Go 1.23 to 1.26 runtime/mpagealloc.go. */
#define CHUNK      (4u << 20)
#define PAGE_BYTES 8192u /* pageSize */

static uint32_t stamp(uint64_t time)
{
	return (uint32_t)(time / 1000000) & TIME_MASK;
}

/* Whether something was heard of it at or after that time. */
static bool is_newer(uint32_t value, uint64_t time)
{
	return ((value - stamp(time)) & TIME_MASK) < LISTED / 2;
}

static struct map64 *map_of(struct model *md, bool is_stack)
{
	return is_stack ? &md->memory.stacks : &md->memory.spans;
}

static void set(struct model *md, bool is_stack, uint64_t address, uint32_t value)
{
	if (map64_set(map_of(md, is_stack), address, value))
		md->oom = true;
}

static bool in_use(struct model *md, bool is_stack, uint64_t address)
{
	const uint32_t *value = map64_get(map_of(md, is_stack), address);

	return value && *value & IN_USE;
}

static struct op *tell(struct model *md, enum op_kind kind, struct m *m, uint64_t address)
{
	struct op *op = emit(md, kind, m);

	op->arg = address;
	return op;
}

static void tell_free(struct model *md, bool is_stack, struct m *m, uint64_t address)
{
	tell(md, is_stack ? OP_GO_STACK_FREE : OP_SPAN_FREE, m, address);
}

/* The stand-in's thread needs no goroutine and no P for this. */
static struct m *nobody(struct model *md)
{
	return m_get(md, STAND_IN_TID);
}

static void know_base(struct model *md, uint64_t address)
{
	if (md->memory.base == 0 && address)
		md->memory.base = address >= CHUNK ? address & ~(uint64_t)(CHUNK - 1) : PAGE_BYTES;
}

/* What a span's record says of it, as the format has it (traceSpanTypeAndClass, Go 1.26
 * runtime/traceallocfree.go). */
static uint64_t span_shape(uint64_t what)
{
	uint64_t class = (what >> 8 & 0xff) == SPAN_FOR_HEAP ? (what & 0xff) << 1 : 1;

	return (what & ~(uint64_t)0xffff) | class;
}

void memory_observe(struct model *md, const struct raw_record *rec, struct m *m)
{
	bool is_stack = rec->site == SITE_ALLOC_STACK || rec->site == SITE_ALLOC_STACK_FREE;
	bool is_free = rec->site == SITE_ALLOC_SPAN_FREE || rec->site == SITE_ALLOC_STACK_FREE;
	uint64_t address = rec->arg;
	bool was_in_use = address && in_use(md, is_stack, address);

	if (!address || (is_stack && !is_free && !rec->arg2))
		return;
	/* Also what nobody knew of and is free now: a snapshot in the making may still have it. */
	set(md, is_stack, address, stamp(rec->time) | (is_free ? 0 : IN_USE));
	if (was_in_use) {
		md->cause = is_free ? SEEN : REPAIRED;
		tell_free(md, is_stack, m, address);
		md->cause = SEEN;
	}
	if (is_free)
		return;
	know_base(md, address);
	tell(md, is_stack ? OP_GO_STACK_ALLOC : OP_SPAN_ALLOC, m, address)->arg2 =
		is_stack ? rec->arg2 : span_shape(rec->arg2);
}

/* --- what there is already --- */

static void tell_area(struct model *md, const struct log_area *area, uint64_t time)
{
	bool is_stack = area->kind == AREA_STACK;

	set(md, is_stack, area->address, stamp(time) | IN_USE);
	tell(md, is_stack ? OP_GO_STACK : OP_SPAN, nobody(md), area->address)->arg2 =
		is_stack ? area->bytes : area->bytes / PAGE_BYTES << 16 | (area->class & 0xffff);
}

static bool is_area(const struct log_area *area)
{
	return area->address && area->bytes && (area->kind == AREA_SPAN || area->kind == AREA_STACK);
}

/* What the first record about it allocates was not there before. */
static void find_younger(struct model *md, const struct record_buffer *early, size_t from,
			 struct map64 younger[2])
{
	for (size_t i = from; i < early->n; i++) {
		const struct raw_record *rec = &early->records[i];
		bool is_stack = rec->site == SITE_ALLOC_STACK || rec->site == SITE_ALLOC_STACK_FREE;
		bool is_alloc = rec->site == SITE_ALLOC_STACK || rec->site == SITE_ALLOC_SPAN;

		if (rec->site < SITE_ALLOC_SPAN || rec->site > SITE_ALLOC_STACK_FREE || !rec->arg ||
		    map64_get(&younger[is_stack], rec->arg))
			continue;
		if (map64_set(&younger[is_stack], rec->arg, is_alloc))
			md->oom = true;
	}
}

static uint64_t least_address(const struct snapshot *snap)
{
	uint64_t least = 0;

	for (size_t i = 0; i < snap->nareas; i++) {
		if (is_area(&snap->areas[i]) && (!least || snap->areas[i].address < least))
			least = snap->areas[i].address;
	}
	return least;
}

void memory_start(struct model *md, size_t from)
{
	struct snapshot *snap = &md->snapshot;
	struct map64 younger[2] = {{0}, {0}};
	size_t kept = 0;

	find_younger(md, &md->early, from, younger);
	for (size_t i = 0; i < snap->nareas; i++) {
		const struct log_area *area = &snap->areas[i];
		bool is_stack = area->kind == AREA_STACK;
		const uint32_t *born = is_area(area) ? map64_get(&younger[is_stack], area->address) : NULL;

		if (is_area(area) && (!born || !*born))
			snap->areas[kept++] = *area;
	}
	snap->nareas = kept;
	map64_free(&younger[0]);
	map64_free(&younger[1]);
}

void memory_tell_start(struct model *md)
{
	const struct snapshot *snap = &md->snapshot;

	know_base(md, least_address(snap));
	for (size_t i = 0; i < snap->nareas; i++) {
		const struct log_area *area = &snap->areas[i];

		if (!in_use(md, area->kind == AREA_STACK, area->address))
			tell_area(md, area, snap->info.time_before);
	}
}

/* --- after a loss --- */

static void end_unlisted(struct model *md, bool is_stack)
{
	const struct map64 *map = map_of(md, is_stack);

	for (size_t i = 0; i < map->capacity; i++) {
		uint32_t *value = &map->values[i];

		if (!map->keys[i])
			continue;
		if (*value & IN_USE && !(*value & LISTED) &&
		    !is_newer(*value, md->snapshot.info.time_before)) {
			tell_free(md, is_stack, nobody(md), map->keys[i]);
			*value &= ~(uint32_t)IN_USE;
		}
		*value &= ~(uint32_t)LISTED;
	}
}

void memory_resync(struct model *md)
{
	const struct snapshot *snap = &md->snapshot;

	for (size_t i = 0; i < snap->nareas; i++) {
		const struct log_area *area = &snap->areas[i];
		bool is_stack = area->kind == AREA_STACK;
		uint32_t *value;

		if (!is_area(area))
			continue;
		know_base(md, area->address);
		value = map64_get(map_of(md, is_stack), area->address);
		if (!value || (!(*value & IN_USE) && !is_newer(*value, snap->info.time_before)))
			tell_area(md, area, snap->info.time_before);
		value = map64_get(map_of(md, is_stack), area->address);
		if (value)
			*value |= LISTED;
	}
	if (snap->nareas == 0)
		return;
	end_unlisted(md, false);
	end_unlisted(md, true);
}

void memory_free(struct memory *memory)
{
	map64_free(&memory->spans);
	map64_free(&memory->stacks);
}
