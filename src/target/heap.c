/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/memory.h"
#include "target/remote.h"

size_t heap_controller_size(const struct target *target)
{
	const struct runtime_offsets *at = &target->image->release->layout.runtime;
	const uint32_t offsets[] = {
		target->layout.gc_percent, target->layout.gc_heap_live,
		at->gc_percent_goal,       at->gc_min_trigger,
		at->gc_triggered,          at->gc_heap_marked,
		at->gc_memory_limit,       at->gc_heap_free,
		at->gc_total_alloc,        at->gc_total_free,
		at->gc_mapped_ready,       at->gc_heap_goal,
	};

	return layout_extent(offsets, sizeof(offsets) / sizeof(offsets[0]));
}

/*
 * Computes the heap goal that the memory limit allows (memoryLimitHeapGoal, Go 1.19 to 1.26
 * runtime/mgcpacer.go).
 */
static uint64_t limit_goal(const struct release *release, const uint8_t *bytes)
{
	const struct runtime_offsets *at = &release->layout.runtime;
	const uint64_t least_headroom = 1 << 20;
	uint64_t limit = layout_word(bytes, at->gc_memory_limit),
		 mapped = layout_word(bytes, at->gc_mapped_ready);
	uint64_t marked = layout_word(bytes, at->gc_heap_marked);
	uint64_t heap = layout_word(bytes, at->gc_heap_free) + layout_word(bytes, at->gc_total_alloc) -
			layout_word(bytes, at->gc_total_free);
	/*
	 * The counters are not read atomically. The runtime rereads them until they agree; this code clamps
	 * instead.
	 */
	uint64_t other = heap < mapped ? mapped - heap : 0;
	uint64_t over = mapped > limit ? mapped - limit : 0;
	uint64_t goal, headroom;

	if (other + over >= limit)
		return marked;
	goal = limit - other - over;
	headroom = release->minor >= 21 ? goal / 100 * 3 : 0;
	if (headroom < least_headroom)
		headroom = least_headroom;
	goal = goal < headroom || goal - headroom < headroom ? headroom : goal - headroom;
	return goal < marked ? marked : goal;
}

/* heapGoalInternal (1.19 and later), adjusted as by the tracer's HeapGoal. */
static uint64_t computed_goal(const struct release *release, const uint8_t *bytes)
{
	const uint64_t least_runway = 64 << 10;
	const struct runtime_offsets *at = &release->layout.runtime;
	uint64_t goal = layout_word(bytes, at->gc_percent_goal), limit = limit_goal(release, bytes);
	uint64_t trigger = layout_word(bytes, at->gc_min_trigger),
		 triggered = layout_word(bytes, at->gc_triggered);

	/* A development version before 1.19 may have neither the goal nor its inputs. */
	if (at->gc_memory_limit == LAYOUT_ABSENT)
		return 0;
	if ((int32_t)layout_word(bytes, release->layout.go.gc_percent) < 0)
		return 0;
	if (limit < goal)
		return limit;
	if (goal < trigger)
		goal = trigger;
	if (triggered != UINT64_MAX && goal < triggered + least_runway)
		goal = triggered + least_runway;
	return goal == UINT64_MAX ? 0 : goal;
}

/* Up to 1.18 the collector stores the goal; later it is computed. */
uint64_t heap_goal(const struct release *release, const uint8_t *bytes)
{
	uint64_t goal;

	if (release->layout.runtime.gc_heap_goal == LAYOUT_ABSENT)
		return computed_goal(release, bytes);
	goal = layout_word(bytes, release->layout.runtime.gc_heap_goal);
	return goal == UINT64_MAX ? 0 : goal;
}

int heap_read(const struct target *target, struct log_heap *heap)
{
	size_t size = heap_controller_size(target);
	uint8_t *bytes;
	uint32_t phase; /* 0 = _GCoff */
	int rc;

	*heap = (struct log_heap){.gc = LOG_GC_OFF};
	if (!target->places.gc_controller)
		return 0;
	bytes = malloc(size);
	rc = bytes ? memory_read(target->pid, target->gcphase, &phase, sizeof(phase)) : -ENOMEM;
	if (rc == 0)
		rc = memory_read(target->pid, target->places.gc_controller, bytes, size);
	if (rc == 0)
		*heap = (struct log_heap){
			.goal = heap_goal(target->image->release, bytes),
			.gc = phase ? LOG_GC_RUNS : LOG_GC_OFF,
		};
	free(bytes);
	return rc;
}

int target_heap_live(const struct target *target, uint64_t *bytes)
{
	*bytes = 0;
	if (target->remote)
		return target->remote->heap_live(target, bytes);
	if (!target->places.gc_controller)
		return 0;
	return memory_read(target->pid, target->places.gc_controller + target->layout.gc_heap_live, bytes,
			   sizeof(*bytes));
}
