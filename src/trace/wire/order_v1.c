/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Puts all events in order. From go 1.7 on, the events of the Ps are merged by goroutine states and sequence
 * numbers; in go 1.5, one sequence covers all events; v0 has only times. Go 1.21 src/internal/trace/order.go.
 *
 * Go's reader looks at every P again after each step. Here, a P whose event is not ready waits in a hash
 * table, keyed by the state it needs, and is woken when the goroutine reaches that state. The order is the
 * same, but no crafted file can make it quadratic.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "trace/ops/op.h"
#include "trace/wire/buffer.h"
#include "trace/wire/trace_v1.h"

/* Values that Go's reader reserves; a file may contain them, too. */
#define UNORDERED  UINT64_MAX
#define GC_COUNTER (UINT64_MAX - 1)
#define NO_SEQ     UINT64_MAX
#define NEXT_SEQ   (UINT64_MAX - 1)

struct g_order {
	uint64_t seq;
	uint64_t status;
	int64_t blocked; /* ticks of its last GoSysBlock or GoInSyscall */
};

/* The state in which an event is ready, and the state after it. */
struct ready {
	uint64_t g; /* UNORDERED = always ready */
	uint32_t index;
	uint64_t seq, next_seq;
	enum v1_status status, next_status;
};

/* Position in one P's events, or in the samples. */
struct p_cursor {
	struct v1_stream stream;
	size_t sample;           /* index of the next sample */
	bool has_event;          /* record is valid */
	struct v1_record record; /* the next event; its type is as in the file */
	bool is_real;            /* the event states its real time, in `real` */
	int64_t real;
	uint32_t next_waiting;
	struct ready step;
};

struct p_merge {
	struct v1_trace *trace;
	struct fault *fault;
	struct map64 g_index;
	struct g_order *gs;
	size_t ngs, g_capacity;
	struct p_cursor *cursors;
	uint32_t *heap; /* heap of cursors whose events are ready, the earliest first */
	size_t nready;
	uint32_t *waiting; /* hash table of chains of cursors */
	size_t buckets;    /* a power of two */
	uint64_t seed;
	struct v1_record last; /* the previous event, if has_last */
	bool has_last;
	struct fault misplaced; /* the first impossible real time; the order ends before it */
	bool is_misplaced;
};

/* --- sorting --- */

static bool p_merge_by_time(const struct v1_placed *a, const struct v1_placed *b)
{
	return a->record.time < b->record.time;
}

static bool by_seq(const struct v1_placed *a, const struct v1_placed *b)
{
	return a->seq < b->seq;
}

/* Stable merge sort; sorted input takes one pass. */
static int sort_placed(struct v1_placed *items, size_t n,
		       bool (*is_less)(const struct v1_placed *, const struct v1_placed *))
{
	struct v1_placed *scratch = n > 1 ? malloc(n * sizeof(*scratch)) : NULL;

	if (n > 1 && !scratch)
		return -ENOMEM;
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t low = 0; low + width < n; low += 2 * width) {
			size_t mid = low + width, high = mid + width < n ? mid + width : n;
			size_t left = low, right = mid, to = low;

			if (!is_less(&items[mid], &items[mid - 1]))
				continue;
			memcpy(scratch + low, items + low, (mid - low) * sizeof(*items));
			while (left < mid && right < high)
				items[to++] = is_less(&items[right], &scratch[left]) ? items[right++]
										     : scratch[left++];
			memcpy(items + to, scratch + left, (mid - left) * sizeof(*items));
		}
	}
	free(scratch);
	return 0;
}

/* --- states of goroutines --- */

static int p_merge_find_g(struct p_merge *merge, uint64_t g, uint32_t *index)
{
	*index = map64_find(&merge->g_index, g);
	if (*index != MAP64_NONE)
		return 0;
	*index = (uint32_t)merge->ngs;
	if (array_grow((void **)&merge->gs, &merge->g_capacity, merge->ngs + 1, sizeof(*merge->gs)) ||
	    map64_set(&merge->g_index, g, *index))
		return -ENOMEM;
	merge->gs[merge->ngs++] = (struct g_order){0};
	return 0;
}

/* Readers of v1 treat a system call that lost its P as a wait. */
static enum v1_status p_merge_status(unsigned g_status)
{
	static const uint8_t statuses[G_STATUS_COUNT] = {[G_DEAD] = V1_DEAD,
							 [G_RUNNABLE] = V1_RUNNABLE,
							 [G_RUNNING] = V1_RUNNING,
							 [G_SYSCALL] = V1_WAITING,
							 [G_WAITING] = V1_WAITING};

	return statuses[g_status];
}

/* Sets the sequence number that an event requires of its goroutine, and the one after it. */
static void set_numbers(struct ready *ready, enum v1_numbering numbering, uint64_t own)
{
	switch (numbering) {
	case V1_CREATED:
		ready->next_seq = 1;
		break;
	case V1_FIRST:
		ready->seq = 1;
		ready->next_seq = 2;
		break;
	case V1_LOCAL:
		ready->seq = NO_SEQ;
		ready->next_seq = NEXT_SEQ;
		break;
	case V1_UNNUMBERED:
		ready->seq = ready->next_seq = NO_SEQ;
		break;
	default:
		ready->seq = own;
		ready->next_seq = own + 1;
	}
}

static struct ready when_ready(const struct v1_trace *trace, const struct v1_raw *raw, uint64_t g)
{
	const struct event_v1_spec *spec = event_v1_spec(raw->type, trace->format);
	struct ready ready = {.g = UNORDERED};
	uint64_t first = v1_arg(trace, raw, 0);

	if (spec->numbering == V1_UNORDERED)
		return ready;
	if (spec->numbering == V1_COUNTED) {
		ready.g = GC_COUNTER;
		set_numbers(&ready, V1_COUNTED, first);
		return ready;
	}
	ready.g = spec->args[0].role == ARG_G || spec->args[0].role == ARG_NEW_G ? first : g;
	ready.status = p_merge_status(event_v1_before(spec));
	ready.next_status = p_merge_status(event_v1_after(spec));
	set_numbers(&ready, spec->numbering, v1_arg(trace, raw, 1));
	return ready;
}

static bool is_ready(const struct p_merge *merge, const struct ready *step)
{
	const struct g_order *g = &merge->gs[step->index];

	return step->g == UNORDERED ||
	       ((step->seq == NO_SEQ || step->seq == g->seq) && step->status == g->status);
}

/* --- ready events: a heap --- */

static bool is_before(const struct p_merge *merge, size_t i, size_t j)
{
	uint32_t a = merge->heap[i], b = merge->heap[j];
	int64_t x = merge->cursors[a].record.time, y = merge->cursors[b].record.time;

	return x != y ? x < y : a < b;
}

static void p_merge_swap(struct p_merge *merge, size_t i, size_t j)
{
	uint32_t held = merge->heap[i];

	merge->heap[i] = merge->heap[j];
	merge->heap[j] = held;
}

static void push_ready(struct p_merge *merge, uint32_t cursor)
{
	size_t i = merge->nready++;

	merge->heap[i] = cursor;
	for (; i > 0 && is_before(merge, i, (i - 1) / 2); i = (i - 1) / 2)
		p_merge_swap(merge, i, (i - 1) / 2);
}

static uint32_t pop_ready(struct p_merge *merge)
{
	uint32_t cursor = merge->heap[0];
	size_t i = 0;

	merge->heap[0] = merge->heap[--merge->nready];
	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < merge->nready; child++)
			if (is_before(merge, child, least))
				least = child;
		if (least == i)
			return cursor;
		p_merge_swap(merge, i, least);
		i = least;
	}
}

/* --- waiting events: a hash table --- */

static uint32_t *bucket(struct p_merge *merge, uint32_t index, uint64_t seq, uint64_t status)
{
	uint64_t key = merge->seed ^ ((uint64_t)index << 2 | status);

	key = (key ^ key >> 31) * 0x9e3779b97f4a7c15ull;
	key = (key ^ seq ^ key >> 29) * (merge->seed | 1);
	return &merge->waiting[(key ^ key >> 32) & (merge->buckets - 1)];
}

static void p_merge_add_waiting(struct p_merge *merge, uint32_t cursor)
{
	const struct ready *step = &merge->cursors[cursor].step;
	uint32_t *head = bucket(merge, step->index, step->seq, step->status);

	merge->cursors[cursor].next_waiting = *head;
	*head = cursor;
}

/* Makes ready all cursors that wait for the goroutine to reach this number and status. */
static void p_merge_wake(struct p_merge *merge, uint32_t index, uint64_t seq, uint64_t status)
{
	uint32_t *at = bucket(merge, index, seq, status);

	while (*at != MAP64_NONE) {
		struct p_cursor *cursor = &merge->cursors[*at];
		uint32_t woken = *at;

		if (cursor->step.index != index || cursor->step.seq != seq || cursor->step.status != status) {
			at = &cursor->next_waiting;
			continue;
		}
		*at = cursor->next_waiting;
		push_ready(merge, woken);
	}
}

/* --- the merge --- */

/* Reads the cursor's next event. */
static void read_next(struct p_merge *merge, struct p_cursor *cursor, bool samples)
{
	const struct v1_trace *trace = merge->trace;
	struct v1_raw raw;

	cursor->is_real = false;
	if (samples) {
		cursor->has_event = cursor->sample < trace->nsamples;
		if (cursor->has_event)
			cursor->record = trace->samples[cursor->sample++].record;
		cursor->step = (struct ready){.g = UNORDERED};
		return;
	}
	cursor->has_event = v1_stream_next(trace, &cursor->stream, &cursor->record, &raw);
	if (!cursor->has_event)
		return;
	cursor->step = when_ready(trace, &raw, cursor->record.g);
	cursor->is_real = v1_real_time(trace, &raw, &cursor->real);
}

static int p_merge_load(struct p_merge *merge, uint32_t index)
{
	struct p_cursor *cursor = &merge->cursors[index];

	read_next(merge, cursor, index == merge->trace->nps);
	if (!cursor->has_event)
		return 0;
	if (cursor->step.g != UNORDERED && p_merge_find_g(merge, cursor->step.g, &cursor->step.index))
		return -ENOMEM;
	if (is_ready(merge, &cursor->step))
		push_ready(merge, index);
	else
		p_merge_add_waiting(merge, index);
	return 0;
}

static void p_merge_advance(struct p_merge *merge, const struct ready *step)
{
	struct g_order *g = &merge->gs[step->index];

	if (step->g == UNORDERED)
		return;
	if (step->next_seq == NEXT_SEQ)
		g->seq++;
	else if (step->next_seq != NO_SEQ)
		g->seq = step->next_seq;
	g->status = step->next_status;
	p_merge_wake(merge, step->index, g->seq, g->status);
	p_merge_wake(merge, step->index, NO_SEQ, g->status);
}

static int check_time(const struct v1_trace *trace, const struct v1_record *last,
		      const struct v1_record *record, struct fault *fault)
{
	if (!last || record->time >= last->time)
		return 0;
	return fault_set(fault, record->offset,
			 "time stamps out of order: %s at %" PRId64 " ticks must follow %s (byte %" PRIu64
			 ") at %" PRId64 " ticks",
			 event_v1_name(record->type, trace->format), record->time,
			 event_v1_name(last->type, trace->format), last->offset, last->time);
}

/* --- ends of system calls --- */

/* GoSysExit is written late. It gets its real time once its place in the order is known. */
static int check_exit(struct p_merge *merge, const struct p_cursor *cursor, int64_t blocked)
{
	const struct v1_record *record = &cursor->record;

	if (blocked == 0)
		return fault_set(&merge->misplaced, record->offset,
				 "stray syscall exit: goroutine %" PRIu64 " was not in a blocked system call",
				 record->g);
	if (cursor->real < blocked)
		return fault_set(&merge->misplaced, record->offset,
				 "time stamps out of order: the call of goroutine %" PRIu64
				 " ended at %" PRId64 " ticks, before it blocked at %" PRId64,
				 record->g, cursor->real, blocked);
	return 0;
}

static int place_exit(struct p_merge *merge, const struct p_cursor *cursor)
{
	struct v1_trace *trace = merge->trace;
	struct v1_placed *placed;
	uint32_t g;

	if (p_merge_find_g(merge, cursor->record.g, &g))
		return -ENOMEM;
	merge->is_misplaced = check_exit(merge, cursor, merge->gs[g].blocked) != 0;
	if (merge->is_misplaced)
		return 0;
	if (array_grow((void **)&trace->placed, &trace->placed_capacity, trace->nplaced + 1,
		       sizeof(*trace->placed)))
		return -ENOMEM;
	placed = &trace->placed[trace->nplaced++];
	*placed = (struct v1_placed){.record = cursor->record, .before = trace->nplain};
	placed->record.time = cursor->real;
	return 0;
}

static int note_block(struct p_merge *merge, const struct v1_record *record)
{
	uint32_t g;

	if (record->type != V1_GO_SYS_BLOCK && record->type != V1_GO_IN_SYSCALL)
		return 0;
	if (p_merge_find_g(merge, record->g, &g))
		return -ENOMEM;
	merge->gs[g].blocked = record->time;
	return 0;
}

/* Appends the cursor's event to the order. */
static int p_merge_append(struct p_merge *merge, uint32_t index)
{
	struct v1_trace *trace = merge->trace;
	const struct p_cursor *cursor = &merge->cursors[index];

	if (merge->is_misplaced)
		return 0;
	if (cursor->is_real)
		return place_exit(merge, cursor);
	memcpy(trace->order + trace->nplain++ * trace->order_width, &index, trace->order_width);
	return note_block(merge, &cursor->record);
}

static int p_merge_take(struct p_merge *merge, uint32_t index)
{
	struct p_cursor *cursor = &merge->cursors[index];
	const struct v1_record *record = &cursor->record;
	const struct ready step = cursor->step;

	if (!is_ready(merge, &step))
		return fault_set(merge->fault, record->offset,
				 "%s of goroutine %" PRIu64 ": two Ps claim the same step of it",
				 event_v1_name(record->type, merge->trace->format), step.g);
	if (check_time(merge->trace, merge->has_last ? &merge->last : NULL, record, merge->fault))
		return -EBADMSG;
	if (p_merge_append(merge, index))
		return -ENOMEM;
	merge->last = *record;
	merge->last.type = v1_full_form(record->type);
	merge->has_last = true;
	p_merge_advance(merge, &step);
	return p_merge_load(merge, index);
}

/* Returns the stuck cursor whose event comes first in the file, or NULL if there is none. */
static const struct p_cursor *find_stuck(const struct p_merge *merge)
{
	const struct v1_trace *trace = merge->trace;
	const struct p_cursor *first = NULL;

	for (size_t i = 0; i <= trace->nps; i++) {
		const struct p_cursor *cursor = &merge->cursors[i];

		if (cursor->has_event && (!first || cursor->record.offset < first->record.offset))
			first = cursor;
	}
	return first;
}

static int p_merge_report_stuck(const struct p_merge *merge)
{
	static const char *const names[] = {"unknown or dead", "runnable", "running", "waiting"};
	static const char what[] = "no consistent ordering of events possible";
	const struct v1_trace *trace = merge->trace;
	const struct p_cursor *stuck = find_stuck(merge);
	const struct v1_record *record;
	const struct g_order *g;
	char number[48] = "";

	if (!stuck)
		return 0;
	record = &stuck->record;
	g = &merge->gs[stuck->step.index];
	if (record->type == V1_GC_START)
		return fault_set(merge->fault, record->offset,
				 "%s: GCStart has the number %" PRIu64 ", expected %" PRIu64, what,
				 stuck->step.seq, g->seq);
	if (stuck->step.seq != NO_SEQ)
		snprintf(number, sizeof(number), " at number %" PRIu64, stuck->step.seq);
	return fault_set(merge->fault, record->offset,
			 "%s: %s on P %" PRId64 " expects goroutine %" PRIu64
			 " %s%s, and it is %s at number %" PRIu64,
			 what, event_v1_name(record->type, trace->format), trace->ps[record->p].id,
			 stuck->step.g, names[stuck->step.status], number, names[g->status], g->seq);
}

static int p_merge_run(struct p_merge *merge)
{
	struct v1_trace *trace = merge->trace;
	int ret = 0;

	for (uint32_t i = 0; i <= trace->nps && !ret; i++) {
		if (i < trace->nps)
			merge->cursors[i].stream = v1_stream_of(trace, i);
		ret = p_merge_load(merge, i);
	}
	while (!ret && merge->nready)
		ret = p_merge_take(merge, pop_ready(merge));
	return ret ? ret : p_merge_report_stuck(merge);
}

/* --- formats --- */

/* Sorts the samples and allocates the order. */
static int open_order(struct v1_trace *trace)
{
	trace->order_width = trace->nps <= UINT8_MAX ? 1 : 2;
	trace->order = malloc((trace->nrecords + 1) * trace->order_width);
	return !trace->order || sort_placed(trace->samples, trace->nsamples, p_merge_by_time) ? -ENOMEM : 0;
}

static int merge_prepare(struct p_merge *merge)
{
	size_t n = merge->trace->nps + 1;

	merge->buckets = 16;
	while (merge->buckets < n)
		merge->buckets *= 2;
	merge->cursors = calloc(n, sizeof(*merge->cursors));
	merge->heap = calloc(n, sizeof(*merge->heap));
	merge->waiting = malloc(merge->buckets * sizeof(*merge->waiting));
	if (!merge->cursors || !merge->heap || !merge->waiting)
		return -ENOMEM;
	memset(merge->waiting, 0xff, merge->buckets * sizeof(*merge->waiting));
	if (getrandom(&merge->seed, sizeof(merge->seed), GRND_NONBLOCK) < 0)
		merge->seed = (uintptr_t)merge->heap;
	/* This entry stands for events without a goroutine, so that every index is valid. */
	return p_merge_find_g(merge, UNORDERED, &(uint32_t){0}) || open_order(merge->trace) ? -ENOMEM : 0;
}

static void merge_free(struct p_merge *merge)
{
	map64_free(&merge->g_index);
	free(merge->gs);
	free(merge->cursors);
	free(merge->heap);
	free(merge->waiting);
}

static int order_by_state(struct v1_trace *trace, struct fault *fault)
{
	struct p_merge merge = {.trace = trace, .fault = fault};
	int ret = merge_prepare(&merge);

	if (!ret)
		ret = p_merge_run(&merge);
	if (!ret && merge.is_misplaced) {
		*fault = merge.misplaced;
		ret = -EBADMSG;
	}
	if (ret != -ENOMEM && sort_placed(trace->placed, trace->nplaced, p_merge_by_time))
		ret = -ENOMEM;
	if (ret != -ENOMEM)
		trace->norder = trace->nplain + trace->nplaced;
	merge_free(&merge);
	return ret;
}

/* The readers' sort is unstable, so events with equal numbers have no defined order. */
static int check_number(const struct v1_trace *trace, const struct v1_placed *last,
			const struct v1_placed *now, struct fault *fault)
{
	if (!last || now->seq != last->seq)
		return 0;
	return fault_set(fault, now->record.offset,
			 "%s and %s of byte %" PRIu64 " have the same number %" PRId64,
			 event_v1_name(now->record.type, trace->format),
			 event_v1_name(last->record.type, trace->format), last->record.offset, now->seq);
}

static int order_by_number(struct v1_trace *trace, struct fault *fault)
{
	const struct v1_placed *last = NULL;

	if (sort_placed(trace->placed, trace->nplaced, by_seq))
		return -ENOMEM;
	for (size_t i = 0; i < trace->nplaced; i++) {
		const struct v1_placed *now = &trace->placed[i];

		if (check_number(trace, last, now, fault) ||
		    check_time(trace, last ? &last->record : NULL, &now->record, fault))
			return -EBADMSG;
		last = now;
		trace->norder++;
	}
	return 0;
}

/* Readers of v0 sort by time with an unstable sort, so equal times have no defined order. */
static int order_by_time(struct v1_trace *trace, struct fault *fault)
{
	if (sort_placed(trace->placed, trace->nplaced, p_merge_by_time))
		return -ENOMEM;
	for (trace->norder = 0; trace->norder < trace->nplaced; trace->norder++) {
		const struct v1_record *record = &trace->placed[trace->norder].record;
		const struct v1_record *last =
			trace->norder ? &trace->placed[trace->norder - 1].record : NULL;

		if (!last || record->time != last->time)
			continue;
		return fault_set(fault, record->offset,
				 "%s and %s of byte %" PRIu64
				 " have the same time: this format has no other order",
				 event_v1_name(record->type, trace->format),
				 event_v1_name(last->type, trace->format), last->offset);
	}
	return 0;
}

static int order(struct v1_trace *trace, struct fault *fault)
{
	if (trace->format == WIRE_V0)
		return order_by_time(trace, fault);
	if (trace->format == WIRE_GO15)
		return order_by_number(trace, fault);
	return order_by_state(trace, fault);
}

int v1_order(struct v1_trace *trace, struct fault *fault)
{
	struct v1_record first;
	const struct v1_raw *raw;
	int ret;

	trace->walk.streams = calloc(trace->nps + 1, sizeof(*trace->walk.streams));
	if (!trace->walk.streams)
		return -ENOMEM;
	ret = order(trace, fault);
	if (ret == -ENOMEM)
		return ret;
	v1_rewind(trace);
	if (v1_walk_next(trace, &first, &raw))
		trace->start = trace->last = first.time;
	v1_rewind(trace);
	return ret;
}
