/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Merges the threads' events by time, with a heap. An event that is not ready waits while other threads
 * advance. The algorithm is that of Go 1.26 src/internal/trace/reader.go and batchcursor.go, so that the
 * verdict is the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/buffer.h"
#include "trace/wire/check_merge.h"
#include "trace/wire/varint.h"

/* Position in one thread's batches. */
struct thread_cursor {
	uint64_t m;
	uint32_t thread; /* its index in the order; 0 = not known yet */
	uint32_t batch;  /* index; MAP64_NONE = no more batches */
	uint32_t at;     /* offset in the batch's data */
	int64_t last_time;
	struct event ev; /* the next event */
};

struct frontier {
	struct thread_cursor **heap;
	size_t n;
	struct chunk *chunk;
	unsigned version;
	struct fault *fault;
};

/* --- cursors --- */

static int frontier_decode(struct frontier *front, struct thread_cursor *cursor, const struct batch *batch,
			   uint64_t *dt)
{
	const uint8_t *p = batch->data + cursor->at, *end = batch->data + batch->size;
	const struct event_spec *spec = event_spec(*p);
	unsigned type = *p++;
	int n;

	if (type >= EV_COUNT)
		return fault_set(front->fault, batch->offset, "found invalid event type: %u", type);
	if (!spec || !spec->timed)
		return fault_set(front->fault, batch->offset, "found event without a timestamp: type=%u",
				 type);
	if (spec->since > front->version && type < EV_SPAN && type != EV_CLOCK_SNAPSHOT)
		return fault_set(front->fault, batch->offset, "event %s is not known to readers of go 1.%u",
				 spec->name, front->version);
	n = get_uv(p, end, dt);
	if (n <= 0)
		return fault_set(front->fault, batch->offset, "found invalid uvarint for timestamp");
	for (unsigned i = 0; i < spec->nargs; i++) {
		p += n;
		n = get_uv(p, end, &cursor->ev.args[i]);
		if (n <= 0)
			return fault_set(front->fault, batch->offset, "found invalid uvarint");
	}
	cursor->at = (uint32_t)(p + n - batch->data);
	cursor->ev.type = (uint8_t)type;
	cursor->ev.offset = batch->offset;
	return 0;
}

/* Reads the thread's next event. Returns 1, 0 at the end, or -EBADMSG. */
static int cursor_next(struct frontier *front, struct thread_cursor *cursor)
{
	const struct batch *batches = front->chunk->batches;
	uint64_t dt = 0;

	while (cursor->batch != MAP64_NONE && cursor->at == batches[cursor->batch].size) {
		cursor->batch = batches[cursor->batch].next;
		cursor->at = 0;
		cursor->last_time = 0;
	}
	if (cursor->batch == MAP64_NONE)
		return 0;
	if (cursor->last_time == 0)
		cursor->last_time = chunk_ns(front->chunk, batches[cursor->batch].time);
	if (frontier_decode(front, cursor, &batches[cursor->batch], &dt))
		return -EBADMSG;
	cursor->last_time = (int64_t)((uint64_t)cursor->last_time + (uint64_t)chunk_ns(front->chunk, dt));
	cursor->ev.time = cursor->last_time;
	return 1;
}

/* --- the heap --- */

static void frontier_swap(struct frontier *front, size_t i, size_t j)
{
	struct thread_cursor *held = front->heap[i];

	front->heap[i] = front->heap[j];
	front->heap[j] = held;
}

static int64_t time_at(const struct frontier *front, size_t i)
{
	return front->heap[i]->ev.time;
}

static size_t sift_up(struct frontier *front, size_t i)
{
	while (i > 0 && time_at(front, (i - 1) / 2) > time_at(front, i)) {
		frontier_swap(front, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
	return i;
}

static void sift_down(struct frontier *front, size_t i)
{
	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < front->n; child++)
			if (time_at(front, child) < time_at(front, least))
				least = child;
		if (least == i)
			return;
		frontier_swap(front, i, least);
		i = least;
	}
}

static void heap_update(struct frontier *front, size_t i)
{
	if (sift_up(front, i) == i)
		sift_down(front, i);
}

static void heap_remove(struct frontier *front, size_t i)
{
	while (i > 0) {
		frontier_swap(front, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
	frontier_swap(front, 0, --front->n);
	if (front->n)
		sift_down(front, 0);
}

static int frontier_compare(const void *a, const void *b)
{
	int64_t x = (*(struct thread_cursor *const *)a)->ev.time,
		y = (*(struct thread_cursor *const *)b)->ev.time;

	return (x > y) - (x < y);
}

/* Insertion sort: the heap is nearly sorted after a step. Returns false if it needs too many moves. */
static bool sort_nearly_sorted(struct frontier *front)
{
	size_t moves = 0;

	for (size_t i = 1; i < front->n; i++) {
		struct thread_cursor *held = front->heap[i];
		size_t at = i;

		for (; at > 0 && time_at(front, at - 1) > held->ev.time; at--)
			front->heap[at] = front->heap[at - 1];
		front->heap[at] = held;
		moves += i - at;
		if (moves > 4 * front->n)
			return false;
	}
	return true;
}

static bool event_merge_spend(struct event_merge *merge, size_t steps)
{
	if (merge->budget < steps)
		return false;
	merge->budget -= steps;
	return true;
}

/* Returns false if the budget is used up. */
static bool frontier_sort(struct event_merge *merge, struct frontier *front)
{
	if (!event_merge_spend(merge, front->n / 8 + 1))
		return false;
	if (sort_nearly_sorted(front))
		return true;
	qsort(front->heap, front->n, sizeof(struct thread_cursor *), frontier_compare);
	return event_merge_spend(merge, front->n);
}

/* --- steps --- */

/* Checks the ids that readers check when they deliver an event. */
static int check_ids(const struct frontier *front, const struct event *ev)
{
	const struct event_spec *spec = event_spec(ev->type);

	for (unsigned i = 0; i < spec->nargs; i++) {
		if (arg_is_stack(&spec->args[i]) && !chunk_has_stack(front->chunk, ev->args[i]))
			return fault_set(front->fault, ev->offset,
					 "found invalid stack ID %" PRIu64 " for event %s", ev->args[i],
					 spec->name);
		if (arg_is_string(&spec->args[i]) && !chunk_has_string(front->chunk, ev->args[i]))
			return fault_set(front->fault, ev->offset,
					 "found invalid string ID %" PRIu64 " for event %s", ev->args[i],
					 spec->name);
	}
	return 0;
}

static void event_merge_deliver(struct event_merge *merge, int64_t time)
{
	if (merge->any && time <= merge->last_time)
		time = (int64_t)((uint64_t)merge->last_time + 1);
	if (!merge->any)
		merge->first_time = time;
	merge->any = true;
	merge->last_time = time;
}

/* Passes the event to the visitor, with the P and goroutine that its thread had before it. */
static int visit(struct event_merge *merge, const struct thread_cursor *cursor, struct wire_event *seen)
{
	seen->type = cursor->ev.type;
	seen->time = merge->last_time;
	seen->m = cursor->m;
	seen->args = cursor->ev.args;
	seen->offset = cursor->ev.offset;
	merge->stopped = merge->visitor->event(merge->visitor->ctx, seen);
	return merge->stopped;
}

static int try_advance(struct event_merge *merge, struct order *order, struct frontier *front, size_t i)
{
	struct thread_cursor *cursor = front->heap[i];
	bool visited = merge->visitor && merge->visitor->event;
	struct wire_event seen = {0};
	int ret;

	if (visited)
		order_holds(order, cursor->thread, &seen.p, &seen.g);
	ret = order_advance(order, front->chunk, cursor->m, &cursor->thread, &cursor->ev, front->fault);
	if (ret != ADVANCE)
		return ret;
	if (check_ids(front, &cursor->ev))
		return -EBADMSG;
	event_merge_deliver(merge, cursor->ev.time);
	if (visited && visit(merge, cursor, &seen))
		return merge->stopped;
	front->chunk->events[cursor->ev.type]++;
	ret = cursor_next(front, cursor);
	if (ret > 0)
		heap_update(front, i);
	else if (ret == 0)
		heap_remove(front, i);
	return ret < 0 ? ret : ADVANCE;
}

static int append_head(char *text, size_t size, const struct thread_cursor *cursor)
{
	const struct event_spec *spec = event_spec(cursor->ev.type);
	size_t used = strlen(text);
	int n = snprintf(text + used, size - used, " M %" PRId64 " [%s", (int64_t)cursor->m, spec->name);

	for (unsigned i = 0; i < spec->nargs && n >= 0 && used + (size_t)n < size; i++) {
		used += (size_t)n;
		n = snprintf(text + used, size - used, " %" PRIu64, cursor->ev.args[i]);
	}
	used = strlen(text);
	return snprintf(text + used, size - used, "]");
}

static int frontier_report_stuck(const struct frontier *front)
{
	char heads[400] = "";

	for (size_t i = 0; i < front->n && strlen(heads) < sizeof(heads) - 64; i++)
		append_head(heads, sizeof(heads), front->heap[i]);
	return fault_set(front->fault, front->heap[0]->ev.offset,
			 "broken trace: failed to advance: frontier:%s", heads);
}

/* Called when the first thread must wait: tries the others in order of time. */
static int advance_another(struct event_merge *merge, struct order *order, struct frontier *front)
{
	bool affordable = frontier_sort(merge, front);

	for (size_t i = 1; i < front->n && affordable; i++) {
		int ret = try_advance(merge, order, front, i);

		if (ret != WAIT)
			return ret;
		affordable = event_merge_spend(merge, 1);
	}
	if (!affordable)
		return fault_set(front->fault, front->heap[0]->ev.offset,
				 "the trace is too disordered to be checked");
	return frontier_report_stuck(front);
}

static int start_cursors(struct frontier *front, const struct order *order, struct thread_cursor *cursors)
{
	for (size_t i = 0; i < front->chunk->nthreads; i++) {
		const struct thread_batches *thread = &front->chunk->by_thread[i];
		int ret;

		cursors[i] = (struct thread_cursor){
			.m = thread->m, .thread = order_find_m(order, thread->m), .batch = thread->first};
		ret = cursor_next(front, &cursors[i]);
		if (ret < 0)
			return ret;
		if (ret == 0)
			continue;
		front->heap[front->n] = &cursors[i];
		sift_up(front, front->n++);
	}
	return 0;
}

static int event_merge_run(struct event_merge *merge, struct order *order, struct frontier *front,
			   struct thread_cursor *cursors)
{
	int ret = start_cursors(front, order, cursors);

	event_merge_deliver(merge,
			    chunk_ns(front->chunk, front->chunk->min_time)); /* time of the Sync event */
	while (ret >= 0 && front->n) {
		ret = try_advance(merge, order, front, 0);
		if (ret == WAIT)
			ret = advance_another(merge, order, front);
	}
	return ret < 0 ? ret : 0;
}

int merge_events(struct event_merge *merge, struct order *order, struct chunk *chunk, unsigned version,
		 struct fault *fault)
{
	struct frontier front = {.chunk = chunk, .version = version, .fault = fault};
	struct thread_cursor *cursors = calloc(chunk->nthreads + 1, sizeof(*cursors));
	int ret = -ENOMEM;

	front.heap = calloc(chunk->nthreads + 1, sizeof(struct thread_cursor *));
	if (cursors && front.heap)
		ret = event_merge_run(merge, order, &front, cursors);
	free(cursors);
	free(front.heap);
	return ret;
}
