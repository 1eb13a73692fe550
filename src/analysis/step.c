/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Observes the ledger: what goroutines do from one state to the next, and what the Ps are used for. */
#include "analysis/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/tables.h"
#include "analysis/instances.h"
#include "analysis/intervals.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "util/array.h"

enum { LOCKED_STARTS = 100, SHORT_RUN_NS = 20000, DELAYING_NS = 2000000 };

/* Of an op or of the ledger; NULL for none. */
static struct goroutine *goroutine_at(struct analysis *a, uint32_t index)
{
	return index && index < a->ngs ? &a->gs[index] : NULL;
}

/* --- life --- */

static void born(struct analysis *a, struct goroutine *g, const struct op *op)
{
	uint32_t stack = stack_index(a, op->stack), entry = stack_index(a, op->stack2);

	open_regions_drop(g);
	labels_drop(g);
	*g = (struct goroutine){.goid = a->ledger.gs[goroutine_index(a, g)].goid, .born = a->now, .p = NO_P};
	group_born(a, g, entry, stack, false);
}

/* With LOCKED_STARTS handovers or more, a goroutine counts as locked to its thread. */
static void count_handovers(struct analysis *a, const struct goroutine *g)
{
	struct handovers *all = &a->groups[g->group].handovers;

	if (g->handovers.n < LOCKED_STARTS)
		return;
	all->n += g->handovers.n;
	all->ns += g->handovers.ns;
	if (g->handovers.most <= all->most)
		return;
	all->most = g->handovers.most;
	all->at = g->handovers.at;
	all->g = g->goid;
}

static void dead(struct analysis *a, struct goroutine *g)
{
	struct goroutine *creator = goroutine_creator(a, g);

	if (creator)
		creator->child_end = a->now;
	interval_leave(a, g, NULL, 0, false);
	call_end(a, g);
	lock_leave(a, g);
	count_handovers(a, g);
	g->activity = ACT_NONE;
	labels_end(a, g, false);
	group_ended(a, g);
	open_regions_drop(g);
	labels_drop(g);
}

static enum activity status_activity(struct analysis *a, const struct ledger_interval *to, uint32_t stack)
{
	switch (to->state) {
	case G_RUNNABLE:
		return ACT_RUNNABLE;
	case G_RUNNING:
		return ACT_CODE;
	case G_SYSCALL:
		return ACT_SYSCALL;
	default:
		return wait_activity(a, to->reason, stack);
	}
}

/* A status that was stated before may name a function. */
static void state_again(struct analysis *a, const struct op *op)
{
	struct goroutine *g = goroutine_at(a, op->g);
	uint32_t stack = g && !g->group ? stack_index(a, op->stack) : 0;

	if (stack)
		group_from_stack(a, g, stack);
}

/* The goroutine exists when the trace begins. */
static void exist(struct analysis *a, struct goroutine *g, const struct op *op,
		  const struct ledger_interval *to)
{
	uint32_t stack = stack_index(a, op->stack);

	open_regions_drop(g);
	labels_drop(g);
	*g = (struct goroutine){.goid = a->ledger.gs[op->g].goid, .p = to->p};
	group_born(a, g, stack_index(a, op->stack2), 0, true);
	if (!g->group && stack)
		group_from_stack(a, g, stack);
	interval_enter(a, g, status_activity(a, to, stack), stack);
	g->cut = true;
	if (g->resumes == ACT_CODE) {
		struct proc *proc = proc_at(a, g->p);

		g->slice = a->now;
		if (proc)
			proc->g = op->g;
		proc_use(a, g->p, g->worker ? P_GC : P_CODE);
	}
}

/* --- running --- */

/*
 * A thread that dequeues a goroutine locked to another thread hands that thread its P and sleeps (Go 1.26
 * runtime/proc.go, startlockedm). Otherwise a thread does not give up its P while goroutines can run. When
 * the locked goroutine waits, its thread hands the P to a thread that runs other goroutines.
 */
static void note_handover(struct analysis *a, struct goroutine *g, struct proc *proc, bool stays)
{
	uint64_t since = proc ? proc->stopped_at : 0, ns = a->now - since;

	if (proc)
		proc->stopped_at = 0;
	if (!stays)
		g->handovers = (struct handovers){0};
	if (!stays || !since || g->activity != ACT_RUNNABLE || g->cut || since <= g->since)
		return;
	g->handovers.n++;
	g->handovers.ns += ns;
	if (ns <= g->handovers.most)
		return;
	g->handovers.most = ns;
	g->handovers.at = since;
	g->handovers.g = g->goid;
}

/* True if g starts on the thread on which it last ran, and nothing else has run there since. */
static bool stays_on_thread(struct analysis *a, const struct goroutine *g, uint32_t m)
{
	struct last_on_thread *last = &a->last_on_thread[m % RECENT_MS];
	bool stays = last->m == m && last->g == goroutine_index(a, g) && g->last_m == m;

	*last = (struct last_on_thread){m, goroutine_index(a, g)};
	return stays;
}

/* Returns NULL if the waker is unknown, or has ended and its index is reused. */
static const struct goroutine *waker_of(const struct analysis *a, const struct goroutine *g)
{
	const struct goroutine *waker = g->waker ? &a->gs[g->waker - 1] : NULL;

	return waker && waker->goid == g->waker_goid ? waker : NULL;
}

static void step_start(struct analysis *a, struct goroutine *g, const struct op *op)
{
	struct proc *proc = proc_at(a, op->p);

	note_handover(a, g, proc, stays_on_thread(a, g, op->m));
	g->last_m = op->m;
	interval_leave(a, g, waker_of(a, g), 0, false);
	interval_enter(a, g, g->assists ? ACT_ASSIST : ACT_CODE, g->assists ? g->assist_stack : 0);
	g->slice = g->started = a->now;
	g->p = op->p;
	resource_got(a, g);
	g->lock_logged = 0;
	if (proc)
		proc->g = goroutine_index(a, g);
	proc_use(a, op->p, g->worker ? P_GC : P_CODE);
	integrate(a, a->now);
	memcpy(g->delays_at, a->delays, sizeof(g->delays_at));
}

/* Records a long slice during which other goroutines waited for a P. */
static void note_slice(struct analysis *a, struct goroutine *g, uint32_t stack)
{
	struct group *group = &a->groups[g->group];
	uint64_t ns = a->now - g->slice;

	if (ns < DELAYING_NS || g->worker || g->cut)
		return;
	integrate(a, a->now);
	if (a->delays[DELAY_NO_P] - g->delays_at[DELAY_NO_P] < 0.8 * (double)ns || !a->runnable)
		return;
	group->delaying++;
	group->delaying_ns += ns;
	if (ns >= 30000000) {
		group->long_slices++;
		group->long_slices_ns += ns;
	}
	if (ns <= group->longest_slice)
		return;
	group->longest_slice = ns;
	group->longest_slice_at = g->slice;
	group->longest_slice_g = g->goid;
	group->longest_slice_stack = stack;
	group->longest_slice_delayed = (uint32_t)a->runnable;
}

static void stop_running(struct analysis *a, struct goroutine *g, int32_t p, uint32_t stack)
{
	struct proc *proc = proc_at(a, p);

	if (!g->group && stack)
		group_from_stack(a, g, stack);
	if (g->activity == ACT_CODE || g->activity == ACT_ASSIST)
		note_slice(a, g, stack);
	if (g->from_timer && a->now - g->started < 10000) {
		a->timer_short_runs++;
		a->groups[g->group].timer_short_runs++;
	}
	g->from_timer = false;
	interval_leave(a, g, NULL, 0, false);
	if (proc) {
		proc->last_stack = stack;
		proc->slice_ns = a->now - g->slice;
		proc->slice_end = a->now;
		proc->fired = 0;
	}
	proc_use(a, p, P_SEARCHING);
}

/* Counts a futile herd wake-up: g has done nothing but wait for the lock, and waits here again. */
static void note_futile_wake(struct analysis *a, struct goroutine *g)
{
	uint64_t ran = g->spent[ACT_CODE] + g->spent[ACT_ASSIST] - g->ran_at_wake;
	uint32_t herd = g->herd;
	struct row *row;

	if (!herd || activity_is_lock(g->activity))
		return;
	g->herd = 0;
	if (g->stack != g->herd_stack || ran >= SHORT_RUN_NS)
		return;
	row = row_get(a, (enum activity)g->activity, g->stack);
	row->futile++;
	row->futile_ns += ran;
	if (row->herd_most < herd)
		row->herd_most = herd;
}

static void block(struct analysis *a, struct goroutine *g, const struct op *op)
{
	uint32_t stack = stack_index(a, op->stack);

	stop_running(a, g, op->p, stack);
	a->groups[g->group].blocks++;
	interval_enter(a, g, block_activity(a, op->string, stack), stack);
	note_futile_wake(a, g);
	resource_note_use(a, g);
	resource_wait(a, g);
	lock_wait(a, g);
}

static void note_preemption(struct analysis *a, const struct goroutine *g, uint32_t stack)
{
	struct group *group = &a->groups[g->group];

	group->preempted++;
	if (!stack_polls(a, stack))
		return;
	group->polling++;
	group->polling_stack = stack;
}

static void preempt(struct analysis *a, struct goroutine *g, const struct op *op)
{
	uint32_t stack = stack_index(a, op->stack);
	size_t len;
	const char *reason = strtab_get(a->gen->tables->strings, op->string, &len);

	stop_running(a, g, op->p, stack);
	interval_enter(a, g, ACT_RUNNABLE, stack);
	g->origin = strcmp(reason, "preempted") == 0 ? FROM_PREEMPTION : FROM_YIELD;
	if (g->origin == FROM_PREEMPTION) {
		note_preemption(a, g, stack);
	} else {
		a->groups[g->group].yields++;
		a->groups[g->group].yields_ns += a->now - g->started;
		top_add(a->groups[g->group].yield_stacks, stack, 1);
	}
}

static void step_create(struct analysis *a, struct goroutine *g, const struct ledger_change *change)
{
	static const enum activity activities[] = {
		[G_RUNNABLE] = ACT_RUNNABLE, [G_WAITING] = ACT_OTHER, [G_SYSCALL] = ACT_SYSCALL};
	const struct ledger_interval *known = &a->ledger.gs[change->g].known;
	uint8_t state = known->state;

	born(a, g, change->op);
	if (known->before) {
		/* Since when it waits is not known, nor where: the stack is that of gotrace's own goroutine.
		 */
		interval_enter(a, g, activities[state], 0);
		g->cut = true;
		return;
	}
	interval_enter(a, g, activities[state], stack_index(a, change->op->stack));
	/* A timer's function (time.AfterFunc). */
	if (!change->by && state == G_RUNNABLE) {
		burst_count(a, g);
		g->from_timer = !a->of_threads;
	}
	g->origin = FROM_CREATE;
	g->creator = change->by;
	g->creator_goid = a->gs[g->creator].goid;
	g->waker = g->creator ? 1 + g->creator : 0;
	g->waker_goid = g->creator_goid;
}

/* --- system calls --- */

static void syscall_begin(struct analysis *a, struct goroutine *g, const struct op *op)
{
	uint32_t stack = stack_index(a, op->stack);

	if (!g->group && stack)
		group_from_stack(a, g, stack);
	note_slice(a, g, stack);
	interval_leave(a, g, NULL, 0, false);
	interval_enter(a, g, ACT_SYSCALL, stack);
	if (!ledger_call_resumes(&a->ledger, &a->ledger.gs[goroutine_index(a, g)])) {
		call_end(a, g);
		if (a->of_threads)
			connections_call(a, g, op, stack);
	}
	proc_use(a, op->p, P_IN_SYSCALL);
}

/* Formats up to Go 1.21 do not record this end. It is made up, so the interval counts as cut. */
static void syscall_end(struct analysis *a, struct goroutine *g, const struct op *op)
{
	if (a->options.short_calls && interval_counts(a, g)) {
		row_get(a, ACT_SYSCALL, g->stack)->endless++;
		a->endless_calls++;
	}
	interval_leave(a, g, NULL, 0, a->options.short_calls);
	interval_enter(a, g, g->assists ? ACT_ASSIST : ACT_CODE, g->assists ? g->assist_stack : 0);
	g->slice = a->now;
	integrate(a, a->now);
	memcpy(g->delays_at, a->delays, sizeof(g->delays_at));
	proc_use(a, op->p, g->worker ? P_GC : P_CODE);
}

static void syscall_end_blocked(struct analysis *a, struct goroutine *g)
{
	uint32_t stack = g->stack;

	row_get(a, ACT_SYSCALL, stack)->lost_p++;
	interval_leave(a, g, NULL, 0, false);
	interval_enter(a, g, ACT_RUNNABLE, stack);
	g->origin = FROM_SYSCALL;
}

/* --- Ps --- */

static void proc_status(struct analysis *a, const struct op *op)
{
	struct proc *proc = proc_at(a, op->p);

	if (!proc)
		return;
	if (proc->use != P_NONE)
		return;
	proc_use(a, op->p,
		 op->status == P_RUNNING   ? P_SEARCHING
		 : op->status == P_SYSCALL ? P_IN_SYSCALL
					   : P_UNUSED);
}

static void procs_change(struct analysis *a, const struct op *op)
{
	integrate(a, a->now);
	if (op->arg > 1 << 16)
		return;
	/* The first value holds from the trace's start. A v1 file may have it only where a thread first runs.
	 */
	if (!a->procs)
		a->procs_ns += op->arg * (a->now - a->begin - ledger_unwatched_before(&a->ledger, a->now));
	a->procs = (uint32_t)op->arg;
	if (a->procs > a->most_procs)
		a->most_procs = a->procs;
	for (uint32_t p = 0; p < a->procs || p < a->nps; p++) {
		const struct proc *proc = proc_at(a, (int32_t)p);

		if (!proc)
			return;
		if (p >= a->procs)
			proc_use(a, (int32_t)p, P_NONE);
		else if (proc->use == P_NONE)
			proc_use(a, (int32_t)p, P_UNUSED);
	}
}

/* --- the rest --- */

static void assist(struct analysis *a, struct goroutine *g, const struct op *op)
{
	g->assists = op->kind != OP_GC_ASSIST_END;
	if (op->stack)
		g->assist_stack = stack_index(a, op->stack);
	if (g->activity != ACT_CODE && g->activity != ACT_ASSIST)
		return;
	interval_leave(a, g, NULL, 0, false);
	interval_enter(a, g, g->assists ? ACT_ASSIST : ACT_CODE, g->assists ? g->assist_stack : 0);
}

/*
 * What a goroutine does within a gap is not known, even if it does the same before and after: it may have
 * been woken, and wait again. So its activity is cut at both ends of the gap.
 */
static void change_watch(struct analysis *a, struct goroutine *g, bool unwatched)
{
	enum activity activity = (enum activity)g->resumes;

	if (g->activity == ACT_NONE)
		return;
	if (unwatched) {
		resource_leave(a, g);
		lock_leave(a, g);
		labels_cut(g);
		g->herd = 0;
		g->from_timer = false;
	}
	interval_leave(a, g, NULL, 0, true);
	call_end(a, g);
	if (activity == ACT_CODE || activity == ACT_ASSIST) {
		activity = g->assists ? ACT_ASSIST : ACT_CODE;
		g->stack = g->assists ? g->assist_stack : 0;
	}
	interval_enter(a, g, activity, g->stack);
	g->cut = true;
	g->slice = a->now;
}

static int step_on_gap(void *ctx, uint64_t time, bool begins)
{
	struct analysis *a = ctx;

	gc_gap(a, begins);
	if (begins)
		return 0;
	resources_resume(a);
	locks_resume(a);
	connections_resume(a);
	if (a->gap_by_limit)
		a->over_limit_ns += time - a->ledger.gap_since;
	return 0;
}

/* A change that a gap hides says who has a P, and what goroutines do when the gap ends. */
static void change_unseen(struct analysis *a, struct goroutine *g, const struct ledger_change *change)
{
	const struct ledger_interval *known = &a->ledger.gs[change->g].known;
	const struct op *op = change->op;
	uint32_t stack = stack_index(a, op->stack);
	struct proc *proc = proc_at(a, known->p);

	if (change->was.state == G_RUNNING && !g->group && stack)
		group_from_stack(a, g, stack);
	if (change->was.state == G_RUNNING && known->state != G_SYSCALL)
		proc_use(a, op->p, P_SEARCHING);
	else if (known->state == G_SYSCALL)
		proc_use(a, op->p, P_IN_SYSCALL);
	if (known->state == G_RUNNING) {
		proc_use(a, known->p, g->worker ? P_GC : P_CODE);
		g->p = known->p;
		g->last_m = known->m;
		stack = 0;
	}
	if (known->state == G_RUNNING && proc)
		proc->g = change->g;
	g->resumes = (uint8_t)status_activity(a, known, stack);
	g->stack = stack;
}

static void step_proc(struct analysis *a, const struct op *op)
{
	struct proc *proc;

	switch (op->kind) {
	case OP_PROC_STATUS:
		proc_status(a, op);
		break;
	case OP_PROCS_CHANGE:
		procs_change(a, op);
		break;
	case OP_PROC_START:
		proc_use(a, op->p, P_SEARCHING);
		break;
	default:
		proc_use(a, op->p, P_UNUSED);
		gc_proc_stopped(a, op->p);
		proc = proc_at(a, op->p);
		if (proc && op->kind == OP_PROC_STOP)
			proc->stopped_at = a->now;
	}
}

/* --- states --- */

static void step_run(struct analysis *a, struct goroutine *g, const struct ledger_change *change)
{
	if (change->was.state == G_SYSCALL)
		syscall_end(a, g, change->op);
	else
		step_start(a, g, change->op);
}

static void become_runnable(struct analysis *a, struct goroutine *g, const struct ledger_change *change)
{
	if (change->wakes)
		wake_step(a, g, goroutine_at(a, change->by), change->op);
	else if (change->was.state == G_SYSCALL)
		syscall_end_blocked(a, g);
	else
		preempt(a, g, change->op);
}

static void step_end_life(struct analysis *a, struct goroutine *g, const struct ledger_change *change)
{
	if (change->was.state == G_RUNNING && a->ledger.unwatched) {
		proc_use(a, change->op->p, P_SEARCHING);
	} else if (change->was.state == G_RUNNING) {
		stop_running(a, g, change->op->p, 0);
		g->activity = ACT_NONE;
	}
	dead(a, g);
}

static int step_on_change(void *ctx, const struct ledger_change *change)
{
	struct analysis *a = ctx;
	uint8_t state = a->ledger.gs[change->g].known.state;
	struct goroutine *g;

	if (a->ngs < a->ledger.ngs && array_grow(&a->gs, &a->ngs, a->ledger.ngs, sizeof(*a->gs)))
		return -ENOMEM;
	g = &a->gs[change->g];
	if (!change->op)
		change_watch(a, g, a->ledger.unwatched);
	else if (change->was.state == LEDGER_NONE && !op_is_creation(change->op->kind))
		exist(a, g, change->op, &a->ledger.gs[change->g].known);
	else if (change->was.state == LEDGER_NONE)
		step_create(a, g, change);
	else if (state == LEDGER_NONE)
		step_end_life(a, g, change);
	else if (change->hidden)
		change_unseen(a, g, change);
	else if (state == G_RUNNING)
		step_run(a, g, change);
	else if (state == G_RUNNABLE)
		become_runnable(a, g, change);
	else if (state == G_SYSCALL)
		syscall_begin(a, g, change->op);
	else
		block(a, g, change->op);
	return 0;
}

void states_begin(struct analysis *a)
{
	ledger_init(&a->ledger,
		    &(struct ledger_observer){.ctx = a, .change = step_on_change, .gap = step_on_gap});
}

/* What the op means beside the states. */
static void step_rest(struct analysis *a, const struct op *op)
{
	struct goroutine *g = goroutine_at(a, op->g);

	switch (op->kind) {
	case OP_PROC_STATUS:
	case OP_PROCS_CHANGE ... OP_PROC_STEAL:
		step_proc(a, op);
		break;
	case OP_STW_BEGIN ... OP_GC_SWEEP_END:
	case OP_HEAP_ALLOC:
	case OP_HEAP_GOAL:
		gc_step(a, op);
		break;
	case OP_GC_ASSIST_ACTIVE ... OP_GC_ASSIST_END:
		if (g)
			assist(a, g, op);
		break;
	case OP_REGION_BEGIN:
		if (g && region_begin(a, op))
			interval_lost_cpu(a, g, true);
		break;
	case OP_REGION_END:
		if (g && region_end(a, op))
			interval_lost_cpu(a, g, false);
		break;
	case OP_TASK_BEGIN:
		if (g)
			task_begin(a, op);
		break;
	case OP_TASK_END:
		task_end(a, op);
		break;
	case OP_LOG:
		note_step(a, op, g);
		labels_log(a, op);
		break;
	default:
		break;
	}
}

void analysis_step(struct analysis *a, const struct op *op)
{
	if (op->time > a->now)
		a->now = op->time;
	a->ops++;
	a->inferred += op->inferred;
	if (op->kind == OP_GO_STATUS && ledger_alive(&a->ledger, op->g))
		state_again(a, op);
	else if (op->kind != OP_LOG && ledger_step(&a->ledger, op))
		a->oom = true;
	step_rest(a, op);
}

void states_end(struct analysis *a)
{
	bool unwatched = a->ledger.unwatched;

	a->now = a->end > a->now ? a->end : a->now;
	integrate(a, a->now);
	ledger_end_missing(&a->ledger, a->now);
	a->unwatched_ns = ledger_unwatched_before(&a->ledger, a->now);
	if (unwatched)
		step_on_gap(a, a->now, false);
	for (size_t i = 1; i < a->ngs; i++) {
		struct goroutine *g = &a->gs[i];

		if (g->activity == ACT_NONE)
			continue;
		interval_leave(a, g, NULL, 0, true);
		call_end(a, g);
		lock_leave(a, g);
		count_handovers(a, g);
		labels_end(a, g, true);
	}
}
