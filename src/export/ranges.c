/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"
#include "trace/wire/buffer.h"

void ranges_init(struct tl_ranges *ranges, const struct tl_visitor *visitor)
{
	*ranges = (struct tl_ranges){.visitor = *visitor};
}

void ranges_free(struct tl_ranges *ranges)
{
	free(ranges->slots);
	map64_free(&ranges->top);
}

/* --- which one --- */

static const uint8_t kinds[OP_KIND_COUNT] = {
	[OP_STW_BEGIN] = TL_STW,
	[OP_STW_END] = TL_STW,
	[OP_GC_ACTIVE] = TL_GC,
	[OP_GC_BEGIN] = TL_GC,
	[OP_GC_END] = TL_GC,
	[OP_GC_SWEEP_ACTIVE] = TL_SWEEP,
	[OP_GC_SWEEP_BEGIN] = TL_SWEEP,
	[OP_GC_SWEEP_END] = TL_SWEEP,
	[OP_GC_ASSIST_ACTIVE] = TL_ASSIST,
	[OP_GC_ASSIST_BEGIN] = TL_ASSIST,
	[OP_GC_ASSIST_END] = TL_ASSIST,
	[OP_TASK_BEGIN] = TL_TASK,
	[OP_TASK_END] = TL_TASK,
	[OP_REGION_BEGIN] = TL_REGION,
	[OP_REGION_END] = TL_REGION,
};

/* Distinguishes ranges that may be open at the same time. An end belongs to the latest range of its key. */
static uint64_t ranges_key_of(uint8_t kind, uint32_t g, int32_t p, uint64_t task)
{
	switch (kind) {
	case TL_SWEEP:
		return (uint64_t)kind << 60 ^ (uint32_t)p;
	case TL_TASK:
		return (uint64_t)kind << 60 ^ task;
	case TL_GC:
	case TL_GAP:
		return (uint64_t)kind << 60;
	default:
		return (uint64_t)kind << 60 ^ g;
	}
}

static uint64_t key_of_range(const struct tl_range *range)
{
	return ranges_key_of(range->kind, range->g, range->p, range->task);
}

static uint32_t ranges_find(const struct tl_ranges *ranges, uint64_t key)
{
	uint32_t at = map64_find(&ranges->top, key);

	return at == MAP64_NONE ? 0 : at;
}

/* --- beginnings and ends --- */

/* Returns a free slot; 0 when out of memory. */
static uint32_t take_slot(struct tl_ranges *ranges)
{
	uint32_t at = ranges->unused;

	if (at) {
		ranges->unused = ranges->slots[at].below;
		return at;
	}
	if (array_grow(&ranges->slots, &ranges->capacity, ranges->n + 2, sizeof(*ranges->slots)))
		return 0;
	return (uint32_t)++ranges->n;
}

static int ranges_begin(struct tl_ranges *ranges, struct tl_range range)
{
	uint64_t key = key_of_range(&range);
	uint32_t at = take_slot(ranges);

	range.id = ++ranges->ids;
	if (!at)
		return -ENOMEM;
	ranges->slots[at] = (struct range_slot){range, ranges_find(ranges, key)};
	if (map64_set(&ranges->top, key, at))
		return -ENOMEM;
	return ranges->visitor.begin ? ranges->visitor.begin(ranges->visitor.ctx, &range) : 0;
}

static int ranges_end(struct tl_ranges *ranges, uint32_t at, uint64_t time, bool open)
{
	struct range_slot *slot = &ranges->slots[at];
	struct tl_range ended = slot->range;

	ended.until = time;
	ended.open = open;
	if (map64_set(&ranges->top, key_of_range(&ended), slot->below))
		return -ENOMEM;
	*slot = (struct range_slot){.below = ranges->unused};
	ranges->unused = at;
	return ranges->visitor.end ? ranges->visitor.end(ranges->visitor.ctx, &ended) : 0;
}

static bool is_end(unsigned kind)
{
	return kind == OP_STW_END || kind == OP_GC_END || kind == OP_GC_SWEEP_END ||
	       kind == OP_GC_ASSIST_END || kind == OP_TASK_END || kind == OP_REGION_END;
}

static bool is_active(unsigned kind)
{
	return kind == OP_GC_ACTIVE || kind == OP_GC_SWEEP_ACTIVE || kind == OP_GC_ASSIST_ACTIVE;
}

static int begin_of(struct tl_ranges *ranges, const struct op *op, uint32_t g)
{
	uint8_t kind = kinds[op->kind];
	struct tl_range range = {
		.kind = kind,
		.before = is_active(op->kind),
		.since = op->time,
		.g = g,
		.p = op->p,
		.name = op->string,
		.stack = op->stack,
		.task = kind == TL_TASK || kind == TL_REGION ? op->arg : 0,
		.parent = kind == TL_TASK ? op->arg2 : 0,
	};

	return ranges_begin(ranges, range);
}

int ranges_step(struct tl_ranges *ranges, const struct op *op, uint32_t g)
{
	uint32_t at = 0;

	if (is_end(op->kind) || is_active(op->kind))
		at = ranges_find(ranges, ranges_key_of(kinds[op->kind], g, op->p, op->arg));
	if (is_active(op->kind) && at)
		return 0; /* repeated at the start of a generation */
	if (!is_end(op->kind))
		return begin_of(ranges, op, g);
	if (!at)
		return 0; /* of a task or region that began before the trace */
	if (op->kind == OP_GC_SWEEP_END) {
		ranges->slots[at].range.arg = op->arg;
		ranges->slots[at].range.arg2 = op->arg2;
	}
	return ranges_end(ranges, at, op->time, false);
}

int ranges_gap_begin(struct tl_ranges *ranges, uint64_t time)
{
	return ranges_begin(ranges, (struct tl_range){.kind = TL_GAP, .since = time, .p = NO_P});
}

int ranges_gap_end(struct tl_ranges *ranges, uint64_t time)
{
	uint32_t at = ranges_find(ranges, ranges_key_of(TL_GAP, 0, NO_P, 0));

	return at ? ranges_end(ranges, at, time, false) : 0;
}

static int latest_first(const void *a, const void *b)
{
	const struct range_slot *one = a, *other = b;

	return one->range.id < other->range.id ? 1 : one->range.id > other->range.id ? -1 : 0;
}

int ranges_finish(struct tl_ranges *ranges, uint64_t time)
{
	int rc = 0;

	if (ranges->n)
		qsort(ranges->slots + 1, ranges->n, sizeof(*ranges->slots), latest_first);
	for (size_t i = 1; i <= ranges->n && ranges->slots[i].range.id && !rc; i++) {
		struct tl_range ended = ranges->slots[i].range;

		ended.until = time;
		ended.open = true;
		if (ranges->visitor.end)
			rc = ranges->visitor.end(ranges->visitor.ctx, &ended);
	}
	ranges->n = 0;
	return rc;
}
