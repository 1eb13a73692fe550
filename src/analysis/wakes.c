/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Wake-ups: who ends whose wait, and what many of them at once mean. */
#include "analysis/step.h"

#include <string.h>

#include "analysis/intervals.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/tables.h"

enum { HERD = 8, SHARED = 4 };
/* Timers are late if LATE_TIMERS fire within AT_ONCE_NS of a slice as long as sysmon's limit or longer. */
enum { LATE_TIMERS = 5, SLICE_NS = 10000000, AT_ONCE_NS = 1000000 };

/* Counts timers that fired late because a goroutine kept their P. */
static void note_late_timer(struct analysis *a, const struct op *op)
{
	struct proc *proc = proc_at(a, op->p);
	struct group *group;

	if (!proc || proc->slice_ns < SLICE_NS || a->now - proc->slice_end > AT_ONCE_NS ||
	    ++proc->fired < LATE_TIMERS || proc->g >= a->ngs)
		return;
	group = &a->groups[a->gs[proc->g].group];
	group->late_timers += proc->fired == LATE_TIMERS ? LATE_TIMERS : 1;
	if (proc->fired == LATE_TIMERS) {
		group->late_slices++;
		group->late_slices_ns += proc->slice_ns;
	}
	if (proc->fired > group->late_most) {
		group->late_most = proc->fired;
		group->late_at = proc->slice_end;
		group->late_ns = proc->slice_ns;
		group->late_g = a->gs[proc->g].goid;
	}
}

static void count_burst_of_group(struct analysis *a, uint32_t index)
{
	struct group *group = &a->groups[index];

	if (group->burst != a->burst_begin)
		group->burst_n = 0;
	group->burst = a->burst_begin;
	if (++group->burst_n <= a->burst_of_group)
		return;
	a->burst_of_group = group->burst_n;
	a->burst_group = index;
}

/* Goroutines that become runnable within 1 ms. */
void burst_count(struct analysis *a, struct goroutine *g)
{
	if (a->now - a->burst_begin > 1000000) {
		a->burst_begin = a->now;
		a->burst_n = a->burst_of_group = 0;
	}
	if (g->burst == a->burst_begin)
		return; /* woken again */
	g->burst = a->burst_begin;
	count_burst_of_group(a, g->group);
	if (++a->burst_n == 50)
		a->bursts++;
	if (a->burst_n > a->burst_most) {
		a->burst_most = a->burst_n;
		a->burst_at = a->burst_begin;
		a->burst_func = a->groups[a->burst_group].func;
		a->burst_func_n = a->burst_of_group;
	}
}

static void count_wake(struct analysis *a, struct goroutine *g, const struct op *op)
{
	if (waits_for_poller(a, g) && op->g == NO_G) {
		a->net_wakes++;
		a->net_wakes_sysmon += op->p == NO_P;
	}
	g->from_timer =
		(g->activity == ACT_SLEEP || g->activity == ACT_SELECT || g->activity == ACT_RECEIVE) &&
		op->g == NO_G;
	a->timer_wakes += g->from_timer;
	a->groups[g->group].timer_wakes += g->from_timer;
	if (g->from_timer)
		note_late_timer(a, op);
	burst_count(a, g);
}

/* A goroutine that wakes HERD or more others in one slice wakes a herd. */
static void note_herd(struct analysis *a, struct goroutine *g, const struct goroutine *waker)
{
	uint32_t index = goroutine_index(a, waker);

	if (a->herd_waker != index || a->herd_slice != waker->slice) {
		a->herd_waker = index;
		a->herd_slice = waker->slice;
		a->herd_n = 0;
	}
	if (++a->herd_n < HERD)
		return;
	g->herd = a->herd_n;
	g->herd_stack = g->stack;
	g->ran_at_wake = g->spent[ACT_CODE] + g->spent[ACT_ASSIST];
}

/* True if the waker belongs to the group of g, or was created by a goroutine of that group. */
static bool is_of_peers(struct analysis *a, const struct goroutine *g, const struct goroutine *waker)
{
	const struct goroutine *creator = goroutine_creator(a, waker);

	return waker->group == g->group || (creator && creator->group == g->group);
}

/* Counts waits at one stack that one waker ends in one slice: many wait for the result of one call. */
static void note_shared_wake(struct analysis *a, const struct goroutine *g, const struct goroutine *waker)
{
	uint32_t index = goroutine_index(a, waker);
	struct row *row;

	if (!g->group || g->cut || !is_of_peers(a, g, waker))
		return;
	if (a->shared_wake.waker != index || a->shared_wake.slice != waker->slice ||
	    a->shared_wake.stack != g->stack) {
		a->shared_wake.waker = index;
		a->shared_wake.slice = waker->slice;
		a->shared_wake.stack = g->stack;
		a->shared_wake.n = 0;
		a->shared_wake.ns = 0;
	}
	a->shared_wake.ns += a->now - g->since;
	if (++a->shared_wake.n < SHARED)
		return;
	row = row_get(a, (enum activity)g->activity, g->stack);
	row->shared_wakes += a->shared_wake.n == SHARED;
	row->shared_n += a->shared_wake.n == SHARED ? SHARED : 1;
	row->shared_ns += a->shared_wake.ns;
	a->shared_wake.ns = 0;
	if (a->shared_wake.n > row->most_shared)
		row->most_shared = a->shared_wake.n;
}

/* Adds the part of a join in which only the last of the goroutines that g created was still running. */
static void note_slack(struct analysis *a, const struct goroutine *g, const struct goroutine *waker)
{
	struct row *row;

	if (goroutine_creator(a, waker) != g || g->child_end < g->since || g->cut)
		return;
	row = row_get(a, (enum activity)g->activity, g->stack);
	row->slack_n++;
	row->slack_ns += a->now - g->child_end;
}

/*
 * A call on a file waits for the disk, or for a lock: f_pos of a shared description, the inode (Linux
 * fs/file.c, fs/read_write.c). The disk's interrupt or a thread of the kernel ends the one, a thread that
 * used the file the other, in this process or in another of the same program.
 */
static bool waits_for_file_lock(const struct analysis *a, const struct goroutine *g, uint32_t stack)
{
	const char *by = name_text(a, stack_site(a, stack)->func);
	size_t of_outside = sizeof(OUTSIDE_NAME) - 1, n = strlen(a->executable);

	if (g->activity != ACT_DISK || !stack || !a->stacks[g->stack].io_call)
		return false;
	if (!a->stacks[stack].outside)
		return true;
	return n && strncmp(by, OUTSIDE_NAME " ", of_outside + 1) == 0 &&
	       strncmp(by + of_outside + 1, a->executable, n) == 0;
}

/* A futex that is used in code whose callers are not known may be anything: who wakes the thread shows it. */
static bool waits_for_notification(const struct analysis *a, const struct goroutine *g, uint32_t stack)
{
	return g->activity == ACT_LOCK && a->of_threads && !a->stacks[g->stack].primitive &&
	       a->stacks[stack].primitive == PRIM_NOTIFY;
}

void wake_step(struct analysis *a, struct goroutine *g, struct goroutine *waker, const struct op *op)
{
	uint32_t stack = stack_index(a, op->stack);

	if (waits_for_file_lock(a, g, stack))
		g->activity = ACT_FILE;
	if (waits_for_notification(a, g, stack)) {
		resource_leave(a, g);
		g->activity = ACT_COND;
	}

	/* The goroutine that polls the network or runs the timers did not cause the wake-up. */
	if (a->stacks[stack].outside || waits_for_poller(a, g) || g->activity == ACT_SLEEP) {
		waker = NULL;
		stack = a->stacks[stack].outside ? stack : 0;
	}
	if (waker && !waker->group && stack)
		group_from_stack(a, waker, stack);
	count_wake(a, g, op);
	if (waker && g->activity == ACT_COND)
		note_herd(a, g, waker);
	if (waker && g->activity == ACT_JOIN)
		note_slack(a, g, waker);
	if (waker && (g->activity == ACT_JOIN || g->activity == ACT_RECEIVE || g->activity == ACT_SELECT))
		note_shared_wake(a, g, waker);
	resource_wake(a, g, waker, stack);
	lock_wake(a, g, waker, stack);
	interval_leave(a, g, waker, stack, false);
	lock_leave(a, g);
	interval_enter(a, g, ACT_RUNNABLE, stack);
	g->origin = FROM_WAKE;
	g->waker = waker ? 1 + goroutine_index(a, waker) : 0;
	g->waker_goid = waker ? waker->goid : 0;
}
