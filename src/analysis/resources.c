/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Locks and queues. A trace records who waits and who ends the wait, but not what for: the goroutine that
 * ends it held the lock. Each release is charged the time of all waiters since the previous one, so that the
 * last holder in a long queue is not charged for all before it.
 */
#include "analysis/tables.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/intervals.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "util/array.h"

enum { MAX_RESOURCES = 4096, LONG_NS = 500000, MEDIUM_NS = 100000, MAX_LINES = 200 };

static bool is_resource(unsigned activity)
{
	return activity_is_lock(activity) || activity == ACT_SEND || activity == ACT_RECEIVE ||
	       activity == ACT_SELECT || activity == ACT_SEMAPHORE;
}

static bool waits_for_resource(const struct analysis *a, const struct goroutine *g)
{
	return is_resource(g->activity) && !a->stacks[g->stack].of_gil_mutex;
}

static uint32_t resources_root_of(struct analysis *a, uint32_t index)
{
	while (a->resources[index].parent != index) {
		a->resources[index].parent = a->resources[a->resources[index].parent].parent;
		index = a->resources[index].parent;
	}
	return index;
}

struct resource *resource_root(struct analysis *a, uint32_t index)
{
	return &a->resources[resources_root_of(a, index)];
}

static uint32_t add_resource(struct analysis *a)
{
	if (a->nresources >= MAX_RESOURCES ||
	    array_grow(&a->resources, &a->resource_capacity, a->nresources + 1, sizeof(*a->resources)))
		return 0;
	a->resources[a->nresources].parent = (uint32_t)a->nresources;
	return (uint32_t)a->nresources++;
}

/* Returns the index of the resource of the stack's first frame outside sync and runtime; 0 = none. */
static uint32_t resource_at(struct analysis *a, uint32_t stack)
{
	struct stack_info *info = &a->stacks[stack];
	const struct code_place *place = stack_near(a, stack);
	uint64_t key = ((uint64_t)place->func << 32 | place->line) + 1;
	const uint32_t *known;

	if (!stack)
		return 0;
	if (info->resource)
		return resources_root_of(a, info->resource);
	known = map64_get(&a->places, key);
	info->resource = known ? *known : add_resource(a);
	if (!known && info->resource && map64_set(&a->places, key, info->resource))
		a->oom = true;
	return resources_root_of(a, info->resource);
}

/* Returns the index of what the goroutine waits for; 0 = none. */
static uint32_t resource_of(struct analysis *a, const struct goroutine *g)
{
	uint32_t *of_process = g->activity == ACT_MMAP  ? &a->mmap_lock
			       : g->activity == ACT_GIL ? &a->gil
							: NULL;

	if (!of_process)
		return resource_at(a, g->stack);
	if (!*of_process)
		*of_process = add_resource(a);
	return *of_process;
}

/* Returns what the goroutine has of the resource with this index; NULL if nothing is known. */
static struct holding *held_of(struct analysis *a, struct goroutine *g, uint32_t index)
{
	for (unsigned i = 0; i < HOLDINGS && g->held[i].resource; i++) {
		if (resources_root_of(a, g->held[i].resource) == index)
			return &g->held[i];
	}
	return NULL;
}

static void held_drop(struct goroutine *g, struct holding *held)
{
	struct holding *last = &g->held[HOLDINGS - 1];

	memmove(held, held + 1, (size_t)(last - held) * sizeof(*held));
	*last = (struct holding){0};
}

static void held_add(struct analysis *a, struct goroutine *g, struct holding now)
{
	struct holding *before = held_of(a, g, now.resource);

	if (before)
		held_drop(g, before);
	memmove(g->held + 1, g->held, (HOLDINGS - 1) * sizeof(now));
	g->held[0] = now;
}

static void resources_pass_time(struct analysis *a, struct resource *res)
{
	uint64_t ns = res->waiting ? a->now - res->changed : 0;

	res->open_ns += ns * res->waiting;
	if (res->waiting)
		res->contended_ns += ns;
	res->with[res->waiting < MOST_QUEUED ? res->waiting : MOST_QUEUED - 1] += ns;
	res->changed = a->now;
}

static void merge_sums(struct resource *to, const struct resource *from)
{
	to->waiting += from->waiting;
	to->open_ns += from->open_ns;
	to->contended_ns += from->contended_ns;
	to->writers += from->writers;
	to->writers_ns += from->writers_ns;
	to->given_ns += from->given_ns;
	to->given_up += from->given_up;
	to->given_up_ns += from->given_up_ns;
	to->releases += from->releases;
	to->by_waiters += from->by_waiters;
	to->overlaps += from->overlaps;
	to->charged_ns += from->charged_ns;
	to->long_ns += from->long_ns;
	to->medium_ns += from->medium_ns;
	to->long_n += from->long_n;
	to->medium_n += from->medium_n;
	to->calls += from->calls;
	to->io_calls += from->io_calls;
	to->readers += from->readers;
	to->readers_ns += from->readers_ns;
	for (unsigned i = 0; i < ACT_COUNT; i++)
		to->meanwhile[i] += from->meanwhile[i];
	for (unsigned i = 0; i < MOST_QUEUED; i++)
		to->with[i] += from->with[i];
}

uint64_t resource_crowded_ns(const struct resource *res, unsigned least)
{
	uint64_t all = 0;

	for (unsigned i = least; i < MOST_QUEUED; i++)
		all += res->with[i];
	return all;
}

uint64_t resource_queued_ns(const struct resource *res, uint64_t servers)
{
	uint64_t all = 0;

	for (uint64_t i = servers + 1; i < MOST_QUEUED; i++)
		all += (i - servers) * res->with[i];
	return all;
}

/* Merges two resources that a wake-up connects: they are the same lock. */
static void merge(struct analysis *a, uint32_t one, uint32_t other)
{
	struct resource *to = &a->resources[one], *from = &a->resources[other];

	resources_pass_time(a, to);
	resources_pass_time(a, from);
	if (from->waits.n && from->waits.max > to->waits.max) {
		to->max_at = from->max_at;
		to->max_g = from->max_g;
		to->max_waker = from->max_waker;
	}
	if (from->waits.n && (!to->waits.n || from->first < to->first))
		to->first = from->first;
	if (histogram_merge(&to->waits, &from->waits) || histogram_merge(&to->holds, &from->holds) ||
	    histogram_merge(&to->min_holds, &from->min_holds))
		a->oom = true;
	merge_sums(to, from);
	if (from->wanted_since > to->wanted_since)
		to->wanted_since = from->wanted_since;
	if (from->contended_since > to->contended_since)
		to->contended_since = from->contended_since;
	if (from->held_at > to->held_at)
		to->held_at = from->held_at;
	if (from->woken)
		to->woken = from->woken;
	if (from->most_waiting > to->most_waiting)
		to->most_waiting = from->most_waiting;
	top_merge(to->did, from->did);
	top_merge(to->holders, from->holders);
	top_merge(to->holder_groups, from->holder_groups);
	top_merge(to->released, from->released);
	top_merge(to->waited, from->waited);
	histogram_free(&from->waits);
	histogram_free(&from->holds);
	histogram_free(&from->min_holds);
	*from = (struct resource){.parent = one};
}

/*
 * Until a goroutine that was woken for a lock has taken it, the lock may be free, or others may take it and
 * release it without an event. Otherwise it is held when one begins to wait for it. A goroutine that runs may
 * have no CPU, and so not have taken it.
 */
static bool is_surely_held(const struct analysis *a, const struct resource *res, const struct goroutine *g)
{
	const struct goroutine *woken = &a->gs[res->woken];

	return !res->woken || woken == g || woken->activity > ACT_RUNNABLE;
}

/* The innermost function that both stacks are in; 0 = none. */
static uint32_t common_function(const struct analysis *a, uint32_t one, uint32_t other)
{
	const struct stack_info *info = &a->stacks[one];

	for (uint32_t i = info->near; i + 1 < info->n; i++) {
		if (stack_has_function(a, other, a->frames[info->first + i].func))
			return a->frames[info->first + i].func;
	}
	return 0;
}

/* Whether a wait is between the lines that get an item and give it back, in the innermost function that does
 * both. */
static enum item_use item_use_of(const struct analysis *a, const struct resource *res,
				 const struct holding *held, uint32_t stack)
{
	uint32_t func = 0, line, first, last = 0;

	for (unsigned i = 0; i < TOPS; i++) {
		uint32_t released = res->released[i].n ? (uint32_t)res->released[i].key : 0;
		uint32_t common = released ? common_function(a, released, held->stack) : 0;

		if (!common || (func && common != func))
			continue;
		func = common;
		line = stack_line_in(a, released, func);
		last = line > last ? line : last;
	}
	first = func ? stack_line_in(a, held->stack, func) : 0;
	if (!func || first > last)
		return USE_UNKNOWN;
	line = stack_line_in(a, stack, func);
	return line && line >= first && line <= last ? USE_INSIDE : USE_LEFT;
}

void resource_note_use(struct analysis *a, struct goroutine *g)
{
	for (unsigned i = 0; i < HOLDINGS && g->held[i].resource; i++) {
		struct holding *held = &g->held[i];
		const struct resource *res = &a->resources[resources_root_of(a, held->resource)];

		if (!res->lock && held->since && held->use != USE_LEFT)
			held->use = item_use_of(a, res, held, g->stack);
	}
}

void resource_wait(struct analysis *a, struct goroutine *g)
{
	uint32_t index;
	struct resource *res;
	struct holding *held;

	if (!waits_for_resource(a, g))
		return;
	index = resource_of(a, g);
	res = &a->resources[index];
	if (!index)
		return;
	res->lock = res->lock || activity_is_lock(g->activity);
	resources_pass_time(a, res);
	g->queued = true;
	if (!res->waiting++)
		res->contended_since = res->wanted_since = a->now;
	if (!res->held_at && is_surely_held(a, res, g))
		res->held_at = a->now;
	if (res->waiting > res->most_waiting)
		res->most_waiting = res->waiting;
	/* It was woken, but another goroutine was faster. */
	held = held_of(a, g, index);
	if (held)
		held_drop(g, held);
}

static void resources_count_wait(struct analysis *a, struct resource *res, const struct goroutine *g,
				 const struct goroutine *waker, uint32_t waker_stack)
{
	uint64_t ns = a->now - g->since;
	unsigned primitive = a->stacks[g->stack].primitive;

	if (histogram_add(&res->waits, ns))
		a->oom = true;
	if (res->waits.n == 1)
		res->first = g->since;
	if (ns >= res->waits.max) {
		res->max_at = g->since;
		res->max_g = g->goid;
		res->max_waker = waker ? waker->goid : 0;
	}
	top_add(res->waited, g->stack, ns);
	if (primitive == PRIM_READ_LOCK) {
		res->readers++;
		res->readers_ns += ns;
	}
	if (primitive == PRIM_LOCK && a->stacks[waker_stack].primitive == PRIM_READ_UNLOCK) {
		res->writers++;
		res->writers_ns += ns;
	}
}

/* ACT_OTHER is a wait without a name of its own, which may be inside an I/O call, as one for a pipe is. */
static bool is_io(const struct analysis *a, uint64_t did)
{
	unsigned activity = did & 0xff;

	return (activity == ACT_SYSCALL || activity == ACT_OTHER || activity == ACT_PIPE) &&
	       a->stacks[did >> 8].io_call;
}

/*
 * Returns the line in which the releasing function took the lock: the last one before the release in which it
 * is known to take or release it, if goroutines have waited there. Returns 0 if it is not known.
 */
static uint32_t line_taken(struct analysis *a, const struct resource *res, const struct code_place *release)
{
	uint32_t line = release->line, known = 0;

	while (!known && line > 1 && release->line - line < MAX_LINES) {
		const uint32_t *index = map64_get(&a->places, ((uint64_t)release->func << 32 | --line) + 1);

		known = index && resource_root(a, *index) == res ? line : 0;
	}
	for (unsigned i = 0; known && i < TOPS; i++) {
		const struct code_place *taken = stack_near(a, (uint32_t)res->waited[i].key);

		if (taken->func == release->func && taken->line == known)
			return known;
	}
	return 0;
}

/*
 * Who takes a lock without a wait leaves no event, but has it in the last call that it made if that is in the
 * lines between. Returns since when it was in that call; a->now if there is none.
 */
static uint64_t called_since(struct analysis *a, const struct resource *res, const struct goroutine *waker,
			     uint32_t stack)
{
	const struct code_place *release = stack_near(a, stack), *call = NULL;
	const struct past_activity *last = NULL;
	uint32_t n = waker->npast < PAST ? waker->npast : PAST, line;

	for (uint32_t i = 1; i <= n && !last; i++) {
		const struct past_activity *past = &waker->past[(waker->npast - i) % PAST];

		if (past->start < res->contended_since)
			return a->now;
		last = past->activity > ACT_RUNNABLE ? past : NULL;
	}
	for (uint32_t i = 0; last && i < a->stacks[last->stack].n && !call; i++) {
		const struct code_place *at = &a->frames[a->stacks[last->stack].first + i];

		call = at->func == release->func ? at : NULL;
	}
	if (!call || call->line > release->line)
		return a->now;
	line = line_taken(a, res, release);
	return line && line < call->line ? last->start : a->now;
}

/* Whether the wait for a condition is one that gives back this lock: those that it has woken wait for the
 * lock there. */
static bool gives_lock_back(const struct analysis *a, const struct resource *res,
			    const struct past_activity *past)
{
	for (unsigned i = 0; past->activity == ACT_COND && i < TOPS; i++) {
		if (res->waited[i].n && stacks_share_site(a, (uint32_t)res->waited[i].key, past->stack))
			return true;
	}
	return false;
}

/* Returns the end of the last wait since then in which the goroutine cannot have had the lock; since if there
 * is none. */
static uint64_t not_held_until(const struct analysis *a, const struct resource *res,
			       const struct goroutine *waker, uint64_t since)
{
	uint32_t n = waker->npast < PAST ? waker->npast : PAST;
	uint64_t end = a->now;

	for (uint32_t i = 1; i <= n && end > since; i++) {
		const struct past_activity *past = &waker->past[(waker->npast - i) % PAST];

		if (gives_lock_back(a, res, past))
			return end;
		end = past->start;
	}
	return since;
}

/*
 * Returns since when the one that releases the lock must have had it because g waited for it, and nobody
 * released it meanwhile; a->now if that is not known: the last one that was woken may have it. A writer of an
 * RWMutex lets all readers in, one after the other (Go 1.4 to 1.27 sync/rwmutex.go).
 */
static uint64_t waited_since(const struct analysis *a, const struct resource *res, const struct goroutine *g,
			     const struct goroutine *waker, uint32_t stack)
{
	const struct goroutine *woken = &a->gs[res->woken];
	bool lets_in = a->stacks[g->stack].primitive == PRIM_READ_LOCK &&
		       a->stacks[stack].primitive == PRIM_UNLOCK && !is_of_threads(a);
	bool woken_may = res->woken && woken != waker && woken->activity != ACT_NONE &&
			 woken->activity <= ACT_RUNNABLE;

	if (g->cut || (!lets_in && (res->released_at >= g->since || woken_may)))
		return a->now;
	return g->since > res->contended_since ? g->since : res->contended_since;
}

/* Returns the earliest time since which the goroutine that releases it to g is known to have held it. */
static uint64_t held_since(struct analysis *a, const struct resource *res, const struct goroutine *g,
			   struct goroutine *waker, uint32_t stack)
{
	const struct holding *held = held_of(a, waker, (uint32_t)(res - a->resources));
	const struct goroutine *woken = &a->gs[res->woken];
	uint64_t called = called_since(a, res, waker, stack), since = a->now;

	/* If another one has released it since then, it has taken it again. */
	if (held && held->since && held->since >= res->contended_since)
		since = held->since;
	else if (res->held_at && (res->releases || res->held_at >= a->unknown_woken_at))
		since = res->held_at;
	/* If the one that was woken for it had it, it gave it back before it began to wait for something
	 * else. */
	else if (res->woken && woken != waker && woken->activity > ACT_RUNNABLE &&
		 woken->since >= res->contended_since)
		since = woken->since;
	else
		since = waited_since(a, res, g, waker, stack);
	return not_held_until(a, res, waker, called < since ? called : since);
}

/* Adds what the holder did since then, times the mean number of waiters. */
static void charge_time(struct analysis *a, struct resource *res, const struct goroutine *waker,
			uint64_t since)
{
	uint64_t spent[ACT_COUNT] = {0}, all = a->now - res->contended_since;
	double times = all ? (double)res->open_ns / (double)all : 0;
	struct top did[TOPS] = {0};
	bool io = false;

	/* Nobody waited before. */
	if (since < res->contended_since)
		since = res->contended_since;
	interval_meanwhile(a, waker, since, a->now, spent, did);
	for (unsigned i = 0; i < TOPS; i++) {
		if (!did[i].n)
			continue;
		uint64_t *waited = &spent[did[i].key & 0xff];

		if (is_io(a, did[i].key) && waited != &spent[ACT_SYSCALL]) {
			*waited -= did[i].weight < *waited ? did[i].weight : *waited;
			spent[ACT_SYSCALL] += did[i].weight;
		}
		io = io || is_io(a, did[i].key);
		top_add(res->did, did[i].key, (uint64_t)((double)did[i].weight * times))->over +=
			(uint64_t)((double)did[i].over * times);
	}
	for (unsigned i = 0; i < ACT_COUNT; i++)
		res->meanwhile[i] += (uint64_t)((double)spent[i] * times);
	io = io || spent[ACT_NETWORK] || spent[ACT_DISK];
	res->calls += io || spent[ACT_SYSCALL];
	res->io_calls += io;
}

static void resources_charge(struct analysis *a, struct resource *res, const struct goroutine *g,
			     struct goroutine *waker, uint32_t stack)
{
	/* A sender does not hold its channel. */
	uint64_t since = res->lock ? held_since(a, res, g, waker, stack) : res->contended_since;
	uint64_t span = a->now - since;

	if (res->lock)
		charge_time(a, res, waker, since);
	res->charged_ns += res->open_ns;
	if (span >= LONG_NS) {
		res->long_ns += res->open_ns;
		res->long_n++;
	}
	if (span >= MEDIUM_NS) {
		res->medium_ns += res->open_ns;
		res->medium_n++;
	}
	top_add(res->holders, waker->goid, res->open_ns);
	top_add(res->holder_groups, waker->group, res->open_ns);
	top_add(res->released, stack, res->open_ns);
	/* Zero: since when it was held is not known. */
	if (span && histogram_add(&res->min_holds, span))
		a->oom = true;
}

static bool is_wait_for(struct analysis *a, const struct past_activity *past, const struct resource *res)
{
	uint32_t index = a->stacks[past->stack].resource;

	return is_resource(past->activity) && index && resource_root(a, index) == res;
}

/* The lines, of one function, between which a goroutine has an item. */
struct use_lines {
	uint32_t func; /* string; 0 = not known */
	uint32_t first, last;
};

/* The innermost function in which goroutines have waited for an item and give it back here, be it by a
 * function of its own. */
static struct use_lines use_lines_of(const struct analysis *a, const struct resource *res, uint32_t stack)
{
	struct use_lines lines = {0, 0, 0};

	for (unsigned i = 0; i < TOPS && !lines.func; i++) {
		uint32_t waited = res->waited[i].n ? (uint32_t)res->waited[i].key : 0;

		lines.func = waited ? common_function(a, stack, waited) : 0;
		if (lines.func)
			lines.first = stack_line_in(a, waited, lines.func);
	}
	if (lines.func)
		lines.last = stack_line_in(a, stack, lines.func);
	return lines;
}

/*
 * Adds what a goroutine did with an item of a pool that it gives back: what it has waited for, of late, in
 * the function that gives it back, from the line that gets one on. It need not have waited for it.
 */
static void count_use(struct analysis *a, struct resource *res, const struct goroutine *holder,
		      uint32_t stack)
{
	const struct use_lines lines = use_lines_of(a, res, stack);
	uint32_t n = holder->npast < PAST ? holder->npast : PAST;
	uint64_t end = a->now;

	for (uint32_t i = 1; lines.first && i <= n; i++) {
		const struct past_activity *past = &holder->past[(holder->npast - i) % PAST];
		uint32_t line = past->activity > ACT_RUNNABLE ? stack_line_in(a, past->stack, lines.func)
							      : lines.first;

		if (line < lines.first || line > lines.last || is_wait_for(a, past, res) ||
		    (res->released_by == holder->goid && past->start < res->released_at))
			return;
		res->meanwhile[past->activity] += end - past->start;
		if (past->activity > ACT_RUNNABLE)
			top_add(res->did, (uint64_t)past->stack << 8 | past->activity, end - past->start);
		end = past->start;
	}
}

/* It may have given it back, and acquired it again without a wait. */
static void count_hold(struct analysis *a, struct resource *res, struct goroutine *waker,
		       struct holding *held)
{
	uint64_t since = held->since;
	bool latest = held == &waker->held[0];

	/* Another goroutine has released it since. */
	if (res->lock && res->contended_since > since && res->waiting > 1)
		since = res->contended_since;
	/*
	 * If it has waited for others since, it has held what was wanted all the time, or what it waits with
	 * in the function that gives it back.
	 */
	if (held->use != USE_LEFT &&
	    (latest || held->use == USE_INSIDE || (!res->lock && held->since >= res->wanted_since))) {
		if (histogram_add(&res->holds, a->now - since))
			a->oom = true;
		res->given_ns += held->since > held->given ? held->since - held->given : 0;
		/* Another one has given one back meanwhile: there are at least two. */
		res->overlaps += res->released_at > since && res->released_by != waker->goid;
	}
	res->by_waiters++;
	held_drop(waker, held);
}

static void count_release(struct analysis *a, uint32_t index, const struct goroutine *g,
			  struct goroutine *waker, uint32_t stack)
{
	struct resource *res = &a->resources[index];
	struct holding *held;

	resources_charge(a, res, g, waker, stack);
	res->releases++;
	if (!res->lock)
		count_use(a, res, waker, stack);
	held = held_of(a, waker, index);
	if (held)
		count_hold(a, res, waker, held);
	res->released_at = a->now;
	res->released_by = waker->goid;
	res->contended_since = a->now;
	res->held_at = 0;
	res->open_ns = 0;
}

/*
 * A writer of an RWMutex waited for a reader, and now lets readers in. No wake-up connects its Lock to its
 * Unlock, but both are in one function.
 */
static const struct holding *held_between_readers(const struct analysis *a, const struct goroutine *g,
						  const struct goroutine *waker, uint32_t waker_stack)
{
	if (a->stacks[g->stack].primitive != PRIM_READ_LOCK ||
	    a->stacks[waker_stack].primitive != PRIM_UNLOCK)
		return NULL;
	for (unsigned i = 0; i < HOLDINGS && waker->held[i].resource; i++) {
		if (waker->held[i].behind_reader &&
		    stack_near(a, waker->held[i].stack)->func == stack_near(a, waker_stack)->func)
			return &waker->held[i];
	}
	return NULL;
}

static void resources_leave(struct analysis *a, struct resource *res, struct goroutine *g)
{
	resources_pass_time(a, res);
	if (g->queued && res->waiting)
		res->waiting--;
	g->queued = false;
}

void resource_leave(struct analysis *a, struct goroutine *g)
{
	uint32_t index = g->queued ? resource_of(a, g) : 0;

	if (index)
		resources_leave(a, &a->resources[index], g);
	memset(g->held, 0, sizeof(g->held));
}

/* Who waits for a monitor of Java looks at it again from time to time, and goes on to wait. */
static bool gives_up(const struct analysis *a, uint32_t stack)
{
	return a->stacks[stack].primitive == PRIM_LOCK &&
	       (stack_mentions(a, stack, "timedlock") || stack_mentions(a, stack, "clocklock"));
}

void resource_wake(struct analysis *a, struct goroutine *g, struct goroutine *waker, uint32_t waker_stack)
{
	const struct holding *held;
	uint32_t index, other;
	struct resource *res;

	/* What it waits for since before the trace may have been any lock. */
	if (waker && g->cut && g->activity == ACT_OTHER)
		a->unknown_woken_at = a->now;
	if (!waits_for_resource(a, g))
		return;
	index = resource_of(a, g);
	if (!index)
		return;
	if (g->activity == ACT_LOCK && waker && waker_stack) {
		other = resource_at(a, waker_stack);
		if (other && other != index)
			merge(a, index, other);
		held = held_between_readers(a, g, waker, waker_stack);
		if (held && resources_root_of(a, held->resource) != index)
			merge(a, index, resources_root_of(a, held->resource));
	}
	res = &a->resources[index];
	resources_pass_time(a, res);
	/* It was already waiting when the trace began. */
	if (!res->waiting)
		res->contended_since = g->since > res->contended_since ? g->since : res->contended_since;
	/* Where wakers are left out, a wait for a lock seems to last until its goroutine runs. */
	if (!g->cut && (waker || !res->lock || is_of_threads(a)))
		resources_count_wait(a, res, g, waker, waker_stack);
	if (stack_is_timer(a, waker_stack) && gives_up(a, g->stack)) {
		res->given_up += !g->cut;
		res->given_up_ns += g->cut ? 0 : a->now - g->since;
		resources_leave(a, res, g);
		return;
	}
	if (waker)
		count_release(a, index, g, waker, waker_stack);
	res->woken = (uint32_t)(g - a->gs);
	resources_leave(a, res, g);
	held_add(a, g,
		 (struct holding){.resource = index,
				  .stack = g->stack,
				  .given = a->now,
				  .behind_reader = a->stacks[waker_stack].primitive == PRIM_READ_UNLOCK});
}

void resource_got(struct analysis *a, struct goroutine *g)
{
	if (g->held[0].resource && !g->held[0].since)
		g->held[0].since = a->now;
}

/* Who took or released one in a gap was not seen. */
void resources_resume(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		struct resource *res = &a->resources[i];

		res->woken = 0;
		res->held_at = 0;
		res->open_ns = 0;
		res->contended_since = a->now;
	}
}

void resources_end(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		if (a->resources[i].parent == i)
			resources_pass_time(a, &a->resources[i]);
	}
}
