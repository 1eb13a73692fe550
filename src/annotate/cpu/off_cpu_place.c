/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Divides intervals without a CPU among the goroutines that ran on their threads. */
#include <stdlib.h>
#include <string.h>

#include "model/inserts.h"
#include "annotate/cpu/off_cpu.h"
#include "annotate/cpu/runs_on.h"
#include "util/array.h"
#include "trace/ops/own_names.h"

/* The state of a thread that had intervals, at the current op. */
struct place_thread {
	struct runs_on on;
	const struct off_cpu_interval *interval; /* the current one, or NULL */
	bool is_open;                            /* a goroutine has had no CPU since `since` */
	size_t place;                            /* index of the first op after `since` */
	uint64_t since;
};

struct places {
	struct off_cpu *off;
	struct map64 by_tid; /* -> index in threads */
	struct place_thread *threads;
	size_t nthreads;
	size_t next;       /* the first interval that has not begun */
	uint64_t next_end; /* earliest end of those that have begun; UINT64_MAX: none */
	struct insert_list ends;
	uint32_t names[OFF_CPU_REASONS];
	uint32_t stacks[OFF_CPU_REASONS];
};

static const char *const region_names[OFF_CPU_REASONS] = {
	[OFF_CPU_PREEMPTED] = OFF_CPU_REGION "preempted]",
	[OFF_CPU_THROTTLED] = OFF_CPU_REGION "throttled]",
	[OFF_CPU_PAGE_FAULT] = OFF_CPU_REGION "page fault]",
	[OFF_CPU_ASLEEP] = OFF_CPU_REGION "asleep in the kernel]",
	[OFF_CPU_STOPPED] = OFF_CPU_REGION "stopped]",
	[OFF_CPU_INTERRUPTS] = OFF_CPU_REGION "interrupts]",
};

static int by_since(const void *a, const void *b)
{
	const struct off_cpu_interval *one = a, *other = b;

	if (one->since != other->since)
		return one->since < other->since ? -1 : 1;
	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

static bool off_cpu_place_open_threads(struct places *places)
{
	const struct off_cpu *off = places->off;

	places->threads = calloc(off->n, sizeof(*places->threads));
	for (size_t i = 0; places->threads && i < off->n; i++) {
		if (map64_find(&places->by_tid, off->intervals[i].tid) != MAP64_NONE)
			continue;
		places->threads[places->nthreads].on.p = NO_P;
		if (map64_set(&places->by_tid, off->intervals[i].tid, (uint32_t)places->nthreads++))
			return false;
	}
	return places->threads != NULL;
}

static struct place_thread *off_cpu_place_thread_of(const struct places *places, uint32_t tid)
{
	uint32_t at = map64_find(&places->by_tid, tid);

	return at == MAP64_NONE ? NULL : &places->threads[at];
}

/* --- results --- */

static void count_taker(struct off_cpu *off, uint32_t name, uint64_t ns)
{
	for (size_t i = 0; i < off->ntakers; i++) {
		if (off->takers[i].name == name) {
			off->takers[i].ns += ns;
			return;
		}
	}
	if (array_grow(&off->takers, &off->taker_capacity, off->ntakers + 1, sizeof(*off->takers)))
		off->view->oom = true;
	else
		off->takers[off->ntakers++] = (struct cpu_taker){.name = name, .ns = ns};
}

static void put_end(struct places *places, enum op_kind kind, size_t place, struct op op)
{
	op.kind = (uint8_t)kind;
	if (inserts_add(&places->ends, place, &op))
		places->off->view->oom = true;
}

/* Viewers up to Go 1.20 crash on a region without a stack (cmd/trace/annotations.go). */
static void name_regions(struct places *places, enum off_cpu_why why)
{
	struct model_view *view = places->off->view;
	uint64_t frames[] = {strtab_add_str(view->strings, region_names[why]),
			     strtab_add_str(view->strings, "gotrace")};

	places->names[why] = (uint32_t)frames[0];
	places->stacks[why] = stack_table_literal(view->stacks, frames, 2);
}

static void off_cpu_place_put_region(struct places *places, const struct place_thread *on, size_t place,
				     uint64_t until, enum off_cpu_why why)
{
	struct op op = {.m = on->interval->tid, .g = on->on.g, .p = on->on.p, .time = on->since};

	if (!places->names[why])
		name_regions(places, why);
	op.string = places->names[why];
	op.stack = places->stacks[why];
	put_end(places, OP_REGION_BEGIN, on->place, op);
	op.time = until;
	put_end(places, OP_REGION_END, place, op);
}

/* Returns the minimum length of a region, ns. If CPUs are known, all intervals show who had one. */
static uint64_t region_ns(const struct off_cpu *off)
{
	if (off->region_ns)
		return off->region_ns;
	return off->knows_cpus ? 1 : OFF_CPU_REGION_NS;
}

/* The goroutine had no CPU until `until`. */
static void found(struct places *places, struct place_thread *on, size_t place, uint64_t until)
{
	struct off_cpu *off = places->off;
	const struct off_cpu_interval *interval = on->interval;
	uint64_t ns = until - on->since, all = interval->until - interval->since, throttled;

	throttled = (uint64_t)((double)interval->throttled_ns * (double)ns / (double)all);
	if (throttled > ns)
		throttled = ns;
	off->off_ns[OFF_CPU_THROTTLED] += throttled;
	off->off_ns[interval->why] += ns - throttled;
	if (interval->why == OFF_CPU_PREEMPTED)
		count_taker(off, interval->taker, ns - throttled);
	model_count_off_cpu(off->view->model, on->on.g, ns);
	if (ns >= region_ns(off) && on->on.p != NO_P)
		off_cpu_place_put_region(places, on, place, until,
					 throttled > ns / 2 ? OFF_CPU_THROTTLED : interval->why);
}

/* --- along the ops --- */

static void begin_piece(struct place_thread *on, size_t place, uint64_t time)
{
	if (!on->interval || !on->on.g || on->interval->until <= time)
		return;
	on->is_open = true;
	on->place = place;
	on->since = time;
}

static void end_piece(struct places *places, struct place_thread *on, size_t place, uint64_t time)
{
	if (on->is_open && time > on->since)
		found(places, on, place, time < on->interval->until ? time : on->interval->until);
	on->is_open = false;
}

static void find_next_end(struct places *places)
{
	places->next_end = UINT64_MAX;
	for (size_t i = 0; i < places->nthreads; i++) {
		const struct off_cpu_interval *interval = places->threads[i].interval;

		if (interval && interval->until < places->next_end)
			places->next_end = interval->until;
	}
}

static void begin_next(struct places *places, size_t place, uint64_t start)
{
	const struct off_cpu_interval *interval = &places->off->intervals[places->next++];
	struct place_thread *on = off_cpu_place_thread_of(places, interval->tid);

	end_piece(places, on, place, interval->since);
	on->interval = interval;
	begin_piece(on, place, interval->since > start ? interval->since : start);
	if (interval->until < places->next_end)
		places->next_end = interval->until;
}

static void end_next(struct places *places, size_t place)
{
	for (size_t i = 0; i < places->nthreads; i++) {
		struct place_thread *on = &places->threads[i];

		if (!on->interval || on->interval->until != places->next_end)
			continue;
		end_piece(places, on, place, places->next_end);
		on->interval = NULL;
	}
	find_next_end(places);
}

/* Handles intervals that begin or end before this time, ahead of the op at `place`. */
static void off_cpu_place_pass_time(struct places *places, size_t place, uint64_t time, uint64_t start)
{
	const struct off_cpu *off = places->off;

	for (;;) {
		uint64_t begin = places->next < off->n ? off->intervals[places->next].since : UINT64_MAX;

		if (begin >= time && places->next_end >= time)
			return;
		if (places->next_end <= begin)
			end_next(places, place);
		else
			begin_next(places, place, start);
	}
}

static void off_cpu_place_walk(struct places *places)
{
	const struct op_list *list = places->off->view->ops;
	uint64_t start = places->off->view->generation->start;

	struct place_thread *on = off_cpu_place_thread_of(places, NO_M);
	uint32_t m = NO_M;

	places->next_end = UINT64_MAX;
	for (size_t i = 0; i < list->n; i++) {
		const struct op *op = &list->ops[i];

		if (op->m != m) {
			m = op->m;
			on = off_cpu_place_thread_of(places, m);
		}
		if (i >= list->statuses)
			off_cpu_place_pass_time(places, i, op->time, start);
		if (!on || op->kind == OP_NONE)
			continue;
		end_piece(places, on, i, op->time);
		runs_on_follow(&on->on, op);
		if (i >= list->statuses)
			begin_piece(on, i + 1, op->time);
	}
	off_cpu_place_pass_time(places, list->n, UINT64_MAX, start);
}

void off_cpu_divide(struct off_cpu *off)
{
	struct places places = {.off = off};

	if (!off->n)
		return;
	qsort(off->intervals, off->n, sizeof(*off->intervals), by_since);
	if (off_cpu_place_open_threads(&places)) {
		off_cpu_place_walk(&places);
		inserts_apply(&places.ends, off->view->ops);
	} else {
		off->view->oom = true;
	}
	off->n = 0;
	free(places.threads);
	inserts_free(&places.ends);
	map64_free(&places.by_tid);
}
