/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Walks backwards through a goroutine's intervals. A wait is explained by what its waker did during the wait,
 * and by nothing earlier, so windows nest and shrink, and the leaves tile the whole.
 */
#include "analysis/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kinds.h"
#include "util/array.h"

enum { MAX_DEPTH = 64, MAX_SEGMENTS = 1 << 20 };

struct path_window {
	uint64_t goid, lo, hi;
	uint32_t parent;
	unsigned depth;
};

static const struct track *track_find(const struct why *why, uint64_t goid)
{
	const uint32_t *index = goid ? map64_get(&why->track_of, goid) : NULL;

	return index ? &why->tracks[*index] : NULL;
}

/* Returns the index of the last span that begins before hi; -1 if there is none. */
static long last_before(const struct track *track, uint64_t hi)
{
	long low = 0, high = track ? (long)track->n : 0;

	while (low < high) {
		long middle = low + (high - low) / 2;

		if (track->spans[middle].start < hi)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

static struct path_segment *path_add(struct why *why, const struct path_window *window, uint64_t start,
				     uint64_t end)
{
	struct path_segment *segment;

	if (why->nsegments >= MAX_SEGMENTS) {
		why->overflow = true;
		return NULL;
	}
	if (array_grow(&why->segments, &why->segment_capacity, why->nsegments + 1, sizeof(*why->segments))) {
		why->oom = true;
		return NULL;
	}
	segment = &why->segments[why->nsegments++];
	*segment = (struct path_segment){.start = start,
					 .end = end,
					 .goid = window->goid,
					 .depth = (uint8_t)window->depth,
					 .parent = window->parent};
	return segment;
}

static void add_unknown(struct why *why, const struct path_window *window, uint64_t start, uint64_t end,
			unsigned note)
{
	struct path_segment *segment = end > start ? path_add(why, window, start, end) : NULL;

	if (segment)
		segment->note = (uint8_t)note;
}

static void analysis_path_walk(struct why *why, struct path_window window);

/* No goroutine explains the time that the network, a timer or a disk takes. */
static bool is_leaf(unsigned activity)
{
	return activity == ACT_NETWORK || activity == ACT_SLEEP || activity == ACT_DISK ||
	       activity == ACT_GC || activity == ACT_CHILD || activity == ACT_STOPPED ||
	       activity == ACT_FOREVER;
}

/* Adds a part of a span, which is not empty. Returns NULL if it is, or there is no memory. */
static struct path_segment *add_span_part(struct why *why, const struct path_window *window,
					  const struct span *span, uint64_t start, uint64_t end,
					  uint32_t off_cpu)
{
	struct path_segment *segment = end > start ? path_add(why, window, start, end) : NULL;

	if (!segment)
		return NULL;
	segment->stack = span->stack;
	segment->waker = span->waker;
	segment->waker_stack = span->waker_stack;
	segment->lock = span->lock;
	segment->lock_taken = span->lock_taken;
	segment->activity = span->activity;
	segment->delay = span->delay;
	segment->off_cpu = off_cpu;
	return segment;
}

/* Adds a span that is no wait backwards, in parts with and without a CPU. */
static void add_running(struct why *why, const struct path_window *window, const struct track *track,
			const struct span *span, uint64_t start, uint64_t end)
{
	size_t low = 0, high = track->noff_cpu;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (track->off_cpu[middle].start < end)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && end > start) {
		const struct off_cpu_part *part = &track->off_cpu[--low];
		uint64_t from = part->start > start ? part->start : start,
			 to = part->end < end ? part->end : end;

		if (to <= from)
			break;
		add_span_part(why, window, span, to, end, 0);
		add_span_part(why, window, span, from, to, part->name);
		end = from;
	}
	add_span_part(why, window, span, start, end, 0);
}

static void take_span(struct why *why, const struct path_window *window, const struct track *track,
		      const struct span *span, uint64_t start, uint64_t end)
{
	struct path_segment *segment;
	uint32_t index;

	if (!activity_is_wait(span->activity)) {
		add_running(why, window, track, span, start, end);
		return;
	}
	segment = add_span_part(why, window, span, start, end, 0);
	index = (uint32_t)why->nsegments;
	if (!segment || is_leaf(span->activity) || (span->activity == ACT_PIPE && !span->waker))
		return;
	if (!span->waker)
		segment->note = NOTE_NO_WAKER;
	else if (window->depth + 1 >= MAX_DEPTH)
		segment->note = NOTE_DEEP;
	else if (span->end <= window->hi)
		analysis_path_walk(why,
				   (struct path_window){span->waker, start, end, index, window->depth + 1});
}

/* Emits the segments of one level backwards, each before its children. path_find() sorts them. */
static void analysis_path_walk(struct why *why, struct path_window window)
{
	const struct track *track = track_find(why, window.goid);
	uint64_t hi = window.hi;
	long i = last_before(track, hi);

	while (hi > window.lo && !why->overflow && !why->oom) {
		const struct span *span = i >= 0 ? &track->spans[i--] : NULL;
		uint64_t start, end;

		if (!span) {
			add_unknown(why, &window, window.lo, hi, track ? NOTE_BEFORE : NOTE_UNKNOWN);
			return;
		}
		end = span->end < hi ? span->end : hi;
		start = span->start > window.lo ? span->start : window.lo;
		add_unknown(why, &window, end > window.lo ? end : window.lo, hi, NOTE_UNKNOWN);
		if (end <= start) {
			hi = end > window.lo ? end : window.lo;
			continue;
		}
		take_span(why, &window, track, span, start, end);
		hi = start;
		/* Before its creation, continue with its creator. */
		if (span->created && span->waker && hi > window.lo) {
			window.goid = span->waker;
			track = track_find(why, window.goid);
			i = last_before(track, hi);
		}
	}
}

static int path_by_place(const void *one, const void *other)
{
	const struct path_segment *const *a = one, *const *b = other;

	if ((*a)->start != (*b)->start)
		return (*a)->start < (*b)->start ? -1 : 1;
	return (*a)->depth < (*b)->depth ? -1 : (*a)->depth > (*b)->depth;
}

/* Sorts by start, then outermost first: the pre-order of the tree of windows. */
static int sort_segments(struct why *why)
{
	size_t n = why->nsegments;
	struct path_segment **order = calloc(n + 1, sizeof(*order)), *sorted = calloc(n + 1, sizeof(*sorted));
	uint32_t *place = calloc(n + 1, sizeof(*place));

	if (!order || !sorted || !place) {
		free(order);
		free(sorted);
		free(place);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		order[i] = &why->segments[i];
	qsort(order, n, sizeof(*order), path_by_place);
	for (size_t i = 0; i < n; i++)
		place[order[i] - why->segments] = (uint32_t)i + 1;
	for (size_t i = 0; i < n; i++) {
		sorted[i] = *order[i];
		if (sorted[i].parent)
			sorted[i].parent = place[sorted[i].parent - 1];
	}
	free(why->segments);
	why->segments = sorted;
	why->segment_capacity = n + 1;
	free(order);
	free(place);
	return 0;
}

int path_find(struct why *why)
{
	analysis_path_walk(why, (struct path_window){.goid = why->goid, .lo = why->begin, .hi = why->end});
	if (why->oom)
		return -ENOMEM;
	if (why->overflow)
		return -EOVERFLOW;
	return sort_segments(why);
}
