/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines enter and leave activities. Leaving one adds the interval to every table. */
#include "analysis/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/handlers.h"
#include "analysis/instances.h"
#include "analysis/kinds.h"
#include "analysis/path.h"
#include "analysis/tables.h"
#include "util/array.h"
#include "trace/ops/own_names.h"

#define MS 1000000ull
/* Less than this between two wake-ups is a broadcast, also when each takes two probe hits. */
#define TURN_NS 20000

/* --- tables --- */

struct row *row_get(struct analysis *a, enum activity activity, uint32_t stack)
{
	uint64_t key = (uint64_t)stack << 8 | activity;
	const uint32_t *known = map64_get(&a->row_of, key);
	struct row *row;

	if (known)
		return &a->rows[*known];
	if (a->nrows >= MAX_ROWS)
		return &a->rows[0];
	if (array_grow(&a->rows, &a->row_capacity, a->nrows + 1, sizeof(*a->rows)) ||
	    map64_set(&a->row_of, key, (uint32_t)a->nrows)) {
		a->oom = true;
		return &a->rows[0];
	}
	row = &a->rows[a->nrows++];
	row->stack = stack;
	row->activity = (uint8_t)activity;
	return row;
}

struct pair *pair_get(struct analysis *a, const struct row *row, uint32_t stack)
{
	uint32_t index = (uint32_t)(row - a->rows);
	uint64_t key = ((uint64_t)index << 32 | stack) + 1;
	const uint32_t *known = map64_get(&a->pair_of, key);

	if (known)
		return &a->pairs[*known];
	if (a->npairs >= MAX_PAIRS)
		return &a->pairs[0];
	if (array_grow(&a->pairs, &a->pair_capacity, a->npairs + 1, sizeof(*a->pairs)) ||
	    map64_set(&a->pair_of, key, (uint32_t)a->npairs)) {
		a->oom = true;
		return &a->pairs[0];
	}
	a->pairs[a->npairs] = (struct pair){.row = index, .stack = stack};
	return &a->pairs[a->npairs++];
}

/* --- what a goroutine did --- */

#define LONG_ACTIVITY_NS 1000000

static void remember(struct goroutine *g, uint64_t start, enum activity activity, uint32_t stack)
{
	const struct past_activity *last = g->npast ? &g->past[(g->npast - 1) % PAST] : NULL;

	if (last && start - last->start >= LONG_ACTIVITY_NS)
		g->past_long[g->npast_long++ % PAST_LONG] = (struct long_activity){*last, start};
	g->past[g->npast++ % PAST] =
		(struct past_activity){.start = start, .stack = stack, .activity = (uint8_t)activity};
}

void interval_lost_cpu(struct analysis *a, struct goroutine *g, bool lost)
{
	if (g->activity == ACT_CODE || g->activity == ACT_ASSIST)
		remember(g, a->now, lost ? ACT_RUNNABLE : (enum activity)g->activity, lost ? 0 : g->stack);
}

/*
 * The system calls (futex) by which a thread itself locks and unlocks count as code, not as calls. Who holds
 * a lock while it waits for what another one reads from a connection holds it across network I/O.
 */
static uint8_t activity_of(const struct analysis *a, const struct past_activity *past)
{
	const struct stack_info *info = &a->stacks[past->stack];

	if (past->activity == ACT_SYSCALL && (info->primitive || info->futex))
		return ACT_CODE;
	return past->activity == ACT_SELECT && info->for_peer ? ACT_NETWORK : past->activity;
}

static void count_did(const struct analysis *a, const struct past_activity *past, uint64_t from, uint64_t to,
		      uint64_t spent[ACT_COUNT], struct top did[TOPS])
{
	uint8_t activity = activity_of(a, past);

	spent[activity] += to - from;
	if (did)
		top_add(did, (uint64_t)past->stack << 8 | activity, to - from);
}

/* Of the long intervals that ended by `end`. Returns the time since `from` that these cover. */
static uint64_t count_long_intervals(const struct analysis *a, const struct goroutine *g, uint64_t from,
				     uint64_t end, uint64_t spent[ACT_COUNT], struct top did[TOPS])
{
	uint32_t n = g->npast_long < PAST_LONG ? g->npast_long : PAST_LONG;
	uint64_t covered = 0;

	for (uint32_t i = 1; i <= n && end > from; i++) {
		const struct long_activity *past = &g->past_long[(g->npast_long - i) % PAST_LONG];
		uint64_t start = past->activity.start > from ? past->activity.start : from;

		if (past->end <= end && start < past->end) {
			count_did(a, &past->activity, start, past->end, spent, did);
			covered += past->end - start;
			end = start;
		}
	}
	return covered;
}

/*
 * Time before the oldest remembered interval, and since it was created, is distributed like the rest, which
 * is the best guess.
 */
static void scale(uint64_t spent[ACT_COUNT], const uint64_t part[ACT_COUNT], uint64_t covered, uint64_t all)
{
	for (unsigned i = 0; i < ACT_COUNT; i++) {
		if (part[i])
			spent[i] += (uint64_t)((double)part[i] * (double)all / (double)covered);
	}
}

void interval_meanwhile(const struct analysis *a, const struct goroutine *g, uint64_t from, uint64_t to,
			uint64_t spent[ACT_COUNT], struct top did[TOPS])
{
	uint64_t part[ACT_COUNT] = {0}, end = to, covered = 0;
	uint32_t n = g->npast < PAST ? g->npast : PAST;

	for (uint32_t i = 1; i <= n && end > from; i++) {
		const struct past_activity *past = &g->past[(g->npast - i) % PAST];
		uint64_t start = past->start > from ? past->start : from;

		if (start < end) {
			count_did(a, past, start, end, part, did);
			covered += end - start;
			end = start;
		}
	}
	covered += count_long_intervals(a, g, from, end, part, did);
	scale(spent, part, covered, to - (from > g->born ? from : g->born));
}

/* --- what the waker did --- */

/* A wait of g begins. */
static void expect_waker(const struct analysis *a, struct goroutine *g)
{
	struct expected_waker *expected = &g->expected;
	const struct goroutine *waker = expected->index ? &a->gs[expected->index - 1] : NULL;

	if (waker && waker->goid == expected->goid)
		spent_now(a, waker, expected->spent);
	else
		expected->index = 0;
}

/*
 * The waker has ended a wait of g. In a long wait it has done more than is remembered of it: where it was
 * expected, its times are exact.
 */
static void count_meanwhile(const struct analysis *a, struct goroutine *g, const struct goroutine *waker,
			    struct pair *pair)
{
	struct expected_waker *expected = &g->expected;
	uint32_t index = 1 + (uint32_t)(waker - a->gs);
	uint64_t recent[ACT_COUNT] = {0}, spent[ACT_COUNT] = {0};
	bool known = expected->index == index && expected->goid == waker->goid;

	interval_meanwhile(a, waker, g->since, a->now, known ? recent : pair->meanwhile, pair->did);
	if (known)
		spent_since(a, waker, expected->spent, spent);
	for (unsigned i = 0; i < ACT_COUNT; i++)
		pair->meanwhile[i] += spent[i];
	expected->index = index;
	expected->goid = waker->goid;
}

/*
 * Who has waited for a question first answers the one that asked it. Who has waited for the end of work gives
 * more of it to one that has none.
 */
static void note_answer(struct analysis *a, struct goroutine *g, const struct goroutine *waker,
			struct row *row)
{
	struct goroutine *by = &a->gs[waker - a->gs];

	if (!activity_is_for_others(row->activity) || row->activity == ACT_LOCK)
		return;
	if (by->asker) {
		row->after_wait++;
		/* In a wait of the same kind, it was no question: it got an item, and gives it back. */
		row->to_asker += &a->gs[by->asker - 1] == g && by->asker_goid == g->goid &&
				 by->asked_in != (uint32_t)(row - a->rows);
	}
	by->asker = 0;
	g->asker = 1 + (uint32_t)(waker - a->gs);
	g->asker_goid = waker->goid;
	g->asked_in = (uint32_t)(row - a->rows);
}

/* --- enter and leave --- */

bool interval_counts(const struct analysis *a, const struct goroutine *g)
{
	return (!a->options.label || g->matches) && !goid_is_own(g->goid);
}

void interval_enter(struct analysis *a, struct goroutine *g, enum activity activity, uint32_t stack)
{
	g->resumes = (uint8_t)activity;
	if (a->ledger.unwatched)
		activity = ACT_UNWATCHED;
	g->activity = (uint8_t)activity;
	g->since = a->now;
	g->stack = stack;
	g->cut = a->ledger.unwatched;
	g->waker = 0;
	/* A runnable goroutine's stack is its waker's. */
	remember(g, a->now, activity, activity == ACT_RUNNABLE || activity == ACT_UNWATCHED ? 0 : stack);
	if (interval_counts(a, g))
		handler_enter(a, g);
	if (activity_is_wait(activity))
		expect_waker(a, g);
	if (activity == ACT_RUNNABLE) {
		integrate(a, a->now);
		memcpy(g->delays_at, a->delays, sizeof(g->delays_at));
		a->runnable++;
	}
}

/* Whole waits say better whose they are. */
static void count_cut(struct row *row, const struct goroutine *g, uint64_t ns)
{
	if (!row->hist.n && !top_first(row->functions)->n)
		top_add(row->functions, g->group, 1);
	row->cut_n++;
	row->cut_ns += ns;
	if (ns > row->cut_max)
		row->cut_max = ns;
}

/* Whether it has written twice since the wait before the one that it is in. */
static bool has_written_twice(const struct analysis *a, const struct goroutine *g)
{
	uint32_t n = g->npast < PAST ? g->npast : PAST;
	unsigned writes = 0;

	for (uint32_t i = 1; i <= n; i++) {
		const struct past_activity *past = &g->past[(g->npast - i) % PAST];

		if (past->start < g->since && past->activity >= ACT_NETWORK)
			break;
		writes += past->activity == ACT_SYSCALL && io_call_writes(a->stacks[past->stack].io_call);
	}
	return writes >= 2;
}

static void count_burst_of(struct bursts *bursts, uint64_t since, uint64_t now)
{
	if (now - since < MS)
		return;
	bursts->waits++;
	bursts->ns += now - since;
	if (since >= bursts->end) {
		bursts->n++;
		bursts->begin = bursts->end = since;
	}
	bursts->covered_ns += now - bursts->end;
	bursts->end = now;
	/* The longest one ends last. */
	if (since < bursts->begin) {
		bursts->covered_ns += bursts->begin - since;
		bursts->begin = since;
	}
}

static void count_whole(struct analysis *a, struct row *row, const struct goroutine *g, uint64_t since,
			const struct goroutine *waker, uint64_t ns)
{
	if (histogram_add(&row->hist, ns))
		a->oom = true;
	row->overlapping += since < row->last_end;
	row->last_end = a->now;
	if (row->hist.n == 1 || since < row->first)
		row->first = since;
	if (ns >= row->hist.max) {
		row->max_at = since;
		row->max_g = g->goid;
		row->max_waker = waker ? waker->goid : 0;
	}
	top_add(row->functions, g->group, ns);
	if (g->task)
		row->task_ns += ns;
	if (row->activity == ACT_NETWORK && ns >= LEAST_ACK_NS && ns <= MOST_ACK_NS &&
	    has_written_twice(a, g)) {
		row->delayed_acks++;
		row->delayed_acks_ns += ns;
	}
	if (waker) {
		/* A broadcast ends waits one after the other, without work between them. */
		row->waker_turns += waker->slice != row->waker_slice || a->now - row->waker_at >= TURN_NS;
		row->waker_slice = waker->slice;
		row->waker_at = a->now;
		row->after_timer += waker->from_timer;
		top_add(row->wakers, waker->goid, ns);
		top_add(row->waker_groups, waker->group, ns);
	} else {
		row->no_waker++;
		row->no_waker_ns += ns;
	}
}

static void leave_runnable(struct analysis *a, struct goroutine *g, uint64_t ns, bool cut)
{
	double waited = 0;

	a->runnable--;
	integrate(a, a->now);
	if (g->worker || a->groups[g->group].system)
		return;
	for (unsigned i = 0; i < DELAY_COUNT; i++) {
		a->latency_by[i] += a->delays[i] - g->delays_at[i];
		waited += a->delays[i] - g->delays_at[i];
	}
	if (cut || ns <= LEDGER_UNSEEN_WAKE_NS)
		return;
	if (histogram_add(&a->latency, ns) || histogram_add(&a->latency_from[g->origin], ns) ||
	    histogram_add(&a->groups[g->group].latency, ns))
		a->oom = true;
	if (ns >= MS && a->delays[DELAY_WAKEUP] - g->delays_at[DELAY_WAKEUP] > 0.98 * waited) {
		a->idle_delayed++;
		a->idle_delayed_ns += ns;
		if (ns > a->idle_delayed_max) {
			a->idle_delayed_max = ns;
			a->idle_delayed_at = g->since;
			a->idle_delayed_g = g->goid;
		}
	}
}

/* Reports the goroutine's interval to the observer. */
static void intervals_show(struct analysis *a, const struct goroutine *g, const struct goroutine *waker,
			   uint32_t waker_stack, bool cut)
{
	enum activity activity = (enum activity)g->activity;
	struct span span = {.start = g->since,
			    .end = a->now,
			    .waker = waker ? waker->goid : 0,
			    .stack = activity == ACT_UNWATCHED ? 0 : g->stack,
			    .waker_stack = waker_stack,
			    .activity = (uint8_t)activity,
			    .lock = g->lock,
			    .lock_taken = g->lock ? g->lock_taken : 0,
			    .before = g->cut,
			    .cut = cut,
			    .created = activity == ACT_RUNNABLE && g->origin == FROM_CREATE};
	double most = -1;

	integrate(a, a->now);
	for (unsigned i = 0; activity == ACT_RUNNABLE && i < DELAY_COUNT; i++) {
		if (a->delays[i] - g->delays_at[i] > most) {
			most = a->delays[i] - g->delays_at[i];
			span.delay = (uint8_t)i;
		}
	}
	a->observer.span(a->observer.ctx, a, g->goid, &span);
}

static void call_add(struct goroutine *g, uint64_t ns, bool cut)
{
	if (!g->call.is_open)
		g->call = (struct thread_call){.since = g->since, .stack = g->stack, .is_open = true};
	g->call.ns += ns;
	g->call.cut |= cut;
}

void call_end(struct analysis *a, struct goroutine *g)
{
	struct row *row;

	if (!g->call.is_open)
		return;
	g->call.is_open = false;
	row = row_get(a, ACT_SYSCALL, g->call.stack);
	if (g->call.cut)
		count_cut(row, g, g->call.ns);
	else
		count_whole(a, row, g, g->call.since, NULL, g->call.ns);
}

/*
 * net/http waits at one place until a request is sent, and then for its answer: two waits for one answer.
 * Counts a wait as the answer's, whole, and those that are none.
 */
static void count_answer(struct analysis *a, struct row *row, struct goroutine *g, uint32_t waker_stack)
{
	uint64_t since = g->asked_since && g->asked_stack == g->stack ? g->asked_since : g->since;
	bool asks = g->activity == ACT_SELECT && a->stacks[g->stack].for_peer;

	g->asked_since = 0;
	if (asks && a->stacks[waker_stack].sends_request) {
		g->asked_since = since;
		g->asked_stack = g->stack;
		return;
	}
	count_burst_of(&row->bursts, since, a->now);
	if (asks && histogram_add(&row->answers, a->now - since))
		a->oom = true;
}

void interval_leave(struct analysis *a, struct goroutine *g, const struct goroutine *waker,
		    uint32_t waker_stack, bool cut_end)
{
	bool cut = cut_end || g->cut;
	uint64_t ns = a->now - g->since;
	struct row *row;

	if (g->activity == ACT_NONE)
		return;
	if (a->observer.span)
		intervals_show(a, g, waker, waker_stack, cut_end);
	g->spent[g->activity] += ns;
	handler_spend(a, g, ns);
	if (g->task && g->activity != ACT_UNWATCHED)
		task_spend(a, g, ns);
	if (g->activity == ACT_RUNNABLE)
		leave_runnable(a, g, ns, cut);
	if (g->activity == ACT_CODE || g->activity == ACT_UNWATCHED || !interval_counts(a, g))
		return;
	if (g->activity == ACT_SYSCALL && ledger_is_of_threads(&a->ledger)) {
		call_add(g, ns, cut);
		return;
	}
	row = row_get(a, (enum activity)g->activity, g->stack);
	if (cut) {
		count_cut(row, g, ns);
		row->cut_ended += !cut_end;
		return;
	}
	count_whole(a, row, g, g->since, waker, ns);
	if (g->activity != ACT_RUNNABLE)
		count_answer(a, row, g, waker_stack);
	if (activity_is_wait(g->activity) && (waker || waker_stack)) {
		struct pair *pair = pair_get(a, row, waker_stack);

		pair->n++;
		pair->ns += ns;
		if (pair->ns > a->pairs[row->heaviest].ns)
			row->heaviest = (uint32_t)(pair - a->pairs);
		if (waker) {
			count_meanwhile(a, g, waker, pair);
			note_answer(a, g, waker, row);
		}
	}
}
