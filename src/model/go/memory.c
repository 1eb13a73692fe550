/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Heap spans and goroutine stacks (--alloc). Those in use are tracked by address, so that the ops stay
 * consistent after losses: nothing is allocated twice, and nothing is freed that is not in use.
 */
#include "model/go/memory.h"

#include <stdlib.h>

#include "model/emit.h"

/*
 * Map values: in use, listed in the current snapshot (scratch), and the time in ms, which wraps after 12
 * days.
 */
enum { IN_USE = 1u << 31, LISTED = 1 << 30, TIME_MASK = LISTED - 1 };

/* pallocChunkBytes, by which the heap grows: Go 1.23 to 1.26 runtime/mpagealloc.go. */
#define CHUNK      (4u << 20)
#define PAGE_BYTES 8192u /* pageSize */

static uint32_t stamp(uint64_t time)
{
	return (uint32_t)(time / 1000000) & TIME_MASK;
}

/* Whether the area's last record is from that time or later. */
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

static struct op *write_op(struct model *md, enum op_kind kind, struct m *m, uint64_t address)
{
	struct op *op = emit(&md->ops, kind, m);

	op->arg = address;
	return op;
}

static void write_free(struct model *md, bool is_stack, struct m *m, uint64_t address)
{
	write_op(md, is_stack ? OP_GO_STACK_FREE : OP_MSPAN_FREE, m, address);
}

/* The synthetic thread needs no goroutine and no P for these ops. */
static struct m *synthetic_m(struct model *md)
{
	return m_get(&md->entities, SYNTHETIC_TID);
}

static void learn_base(struct model *md, uint64_t address)
{
	if (md->memory.base == 0 && address)
		md->memory.base = address >= CHUNK ? address & ~(uint64_t)(CHUNK - 1) : PAGE_BYTES;
}

/*
 * The size and class of a span, in the format's encoding (traceSpanTypeAndClass, Go 1.26
 * runtime/traceallocfree.go).
 */
static uint64_t span_shape(uint64_t what)
{
	uint64_t class = (what >> 8 & 0xff) == SPAN_FOR_HEAP ? (what & 0xff) << 1 : 1;

	return (what & ~(uint64_t)0xffff) | class;
}

void on_memory(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	bool is_stack = rec->site == SITE_ALLOC_STACK || rec->site == SITE_ALLOC_STACK_FREE;
	bool is_free = rec->site == SITE_ALLOC_SPAN_FREE || rec->site == SITE_ALLOC_STACK_FREE;
	uint64_t address = rec->arg;
	bool was_in_use = address && in_use(md, is_stack, address);

	on_behalf(md, hit);
	if (!address || (is_stack && !is_free && !rec->arg2))
		return;
	/* This includes unknown areas that are freed: a snapshot in progress may still list them. */
	set(md, is_stack, address, stamp(rec->time) | (is_free ? 0 : IN_USE));
	if (was_in_use) {
		md->ops.provenance = is_free ? OBSERVED : REPAIRED;
		write_free(md, is_stack, hit->m, address);
		md->ops.provenance = OBSERVED;
	}
	if (is_free)
		return;
	learn_base(md, address);
	write_op(md, is_stack ? OP_GO_STACK_ALLOC : OP_MSPAN_ALLOC, hit->m, address)->arg2 =
		is_stack ? rec->arg2 : span_shape(rec->arg2);
}

/* --- areas that exist already --- */

static void write_area(struct model *md, const struct log_area *area, uint64_t time)
{
	bool is_stack = area->kind == AREA_STACK;

	set(md, is_stack, area->address, stamp(time) | IN_USE);
	write_op(md, is_stack ? OP_GO_STACK : OP_MSPAN, synthetic_m(md), area->address)->arg2 =
		is_stack ? area->bytes : area->bytes / PAGE_BYTES << 16 | (area->class & 0xffff);
}

static bool is_area(const struct log_area *area)
{
	return area->address && area->bytes && (area->kind == AREA_SPAN || area->kind == AREA_STACK);
}

/* An area whose first record is an allocation did not exist before. */
static void find_created_since(struct model *md, const struct early_records *early, size_t from,
			       struct map64 created[2])
{
	for (size_t i = from; i < early->n; i++) {
		const struct raw_record *rec = &early->records[i];
		bool is_stack = rec->site == SITE_ALLOC_STACK || rec->site == SITE_ALLOC_STACK_FREE;
		bool is_alloc = rec->site == SITE_ALLOC_STACK || rec->site == SITE_ALLOC_SPAN;

		if (rec->site < SITE_ALLOC_SPAN || rec->site > SITE_ALLOC_STACK_FREE || !rec->arg ||
		    map64_get(&created[is_stack], rec->arg))
			continue;
		if (map64_set(&created[is_stack], rec->arg, is_alloc))
			md->oom = true;
	}
}

static uint64_t least_address(const struct model_snapshot *snap)
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
	struct model_snapshot *snap = &md->snapshot;
	struct map64 created[2] = {{0}, {0}};
	size_t kept = 0;

	find_created_since(md, &md->early, from, created);
	for (size_t i = 0; i < snap->nareas; i++) {
		const struct log_area *area = &snap->areas[i];
		bool is_stack = area->kind == AREA_STACK;
		const uint32_t *born = is_area(area) ? map64_get(&created[is_stack], area->address) : NULL;

		if (is_area(area) && (!born || !*born))
			snap->areas[kept++] = *area;
	}
	snap->nareas = kept;
	map64_free(&created[0]);
	map64_free(&created[1]);
}

void memory_write_first(struct model *md)
{
	const struct model_snapshot *snap = &md->snapshot;

	learn_base(md, least_address(snap));
	for (size_t i = 0; i < snap->nareas; i++) {
		const struct log_area *area = &snap->areas[i];

		if (!in_use(md, area->kind == AREA_STACK, area->address))
			write_area(md, area, snap->info.time_before);
	}
}

/* --- after a loss --- */

static void memory_end_unlisted(struct model *md, bool is_stack)
{
	const struct map64 *map = map_of(md, is_stack);
	uint64_t *keys = map64_sorted_keys(map);

	md->oom |= !keys;
	for (size_t i = 0; keys && i < map->count; i++) {
		uint32_t *value = map64_get(map, keys[i]);

		if (*value & IN_USE && !(*value & LISTED) &&
		    !is_newer(*value, md->snapshot.info.time_before)) {
			write_free(md, is_stack, synthetic_m(md), keys[i]);
			*value &= ~(uint32_t)IN_USE;
		}
		*value &= ~(uint32_t)LISTED;
	}
	free(keys);
}

void memory_resync(struct model *md)
{
	const struct model_snapshot *snap = &md->snapshot;

	for (size_t i = 0; i < snap->nareas; i++) {
		const struct log_area *area = &snap->areas[i];
		bool is_stack = area->kind == AREA_STACK;
		uint32_t *value;

		if (!is_area(area))
			continue;
		learn_base(md, area->address);
		value = map64_get(map_of(md, is_stack), area->address);
		if (!value || (!(*value & IN_USE) && !is_newer(*value, snap->info.time_before)))
			write_area(md, area, snap->info.time_before);
		value = map64_get(map_of(md, is_stack), area->address);
		if (value)
			*value |= LISTED;
	}
	if (snap->nareas == 0)
		return;
	memory_end_unlisted(md, false);
	memory_end_unlisted(md, true);
}

void memory_free(struct memory *memory)
{
	map64_free(&memory->spans);
	map64_free(&memory->stacks);
}
