/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/perfetto_event.h"
#include "util/utf8.h"

/* --- a program traced as threads --- */

void pf_comm(const struct census *census, uint32_t serial, char comm[64])
{
	size_t len;
	const char *name = census_name(census, serial, &len), *from = memmem(name, len, " [", 2);

	if (from && name[len - 1] == ']') {
		from += 2;
		len -= (size_t)(from - name) + 1;
	} else {
		from = name;
	}
	snprintf(comm, 64, "%.*s", (int)(len < 63 ? len : text_whole(from, 63)), from);
}

/* States of Perfetto's generic_task.proto. */
enum { TASK_RUNNABLE = 2, TASK_RUNNING = 3, TASK_SLEEPS = 4, TASK_DEAD = 7, TASK_DESTROYED = 8 };

static int perfetto_threads_put_task(struct perfetto *px, uint64_t time,
				     const Perfetto__KernelTaskState *state)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__KernelTaskState task = *state;

	packet.data_case = PERFETTO__TRACE_PACKET__DATA_GENERIC_KERNEL_TASK_STATE_EVENT;
	packet.generic_kernel_task_state_event = &task;
	return pf_put_at(&px->stream, time, &packet);
}

/* After a thread's death, Perfetto accepts only an event that frees its id. */
static int replace_dead(struct perfetto *px, uint64_t time, Perfetto__KernelTaskState task)
{
	int rc;

	task.state = TASK_DESTROYED;
	rc = perfetto_threads_put_task(px, time, &task);
	return rc ? rc : pf_thread_again(&px->tracks, (uint32_t)task.tid, task.comm);
}

/*
 * Writes the thread's scheduler state; a thread in a system call is running. Perfetto rejects a repeated
 * state, and has none for a gap: the last one stands.
 */
static int show_task(struct perfetto *px, const struct tl_change *change)
{
	static const uint8_t states[LEDGER_STATE_COUNT] = {
		[LEDGER_NONE] = TASK_DEAD,  [G_RUNNABLE] = TASK_RUNNABLE, [G_RUNNING] = TASK_RUNNING,
		[G_SYSCALL] = TASK_RUNNING, [G_WAITING] = TASK_SLEEPS,
	};
	const struct ledger_interval *now = &change->g->now;
	Perfetto__KernelTaskState task = PERFETTO__KERNEL_TASK_STATE__INIT;
	uint32_t tid = px->census->goroutines[change->g->serial].m;
	struct pf_thread *thread;
	char comm[64];
	int rc;

	if (!tid || change->final || !states[change->to->state])
		return 0;
	pf_comm(px->census, change->g->serial, comm);
	thread = pf_thread(&px->tracks, tid, comm, &rc);
	if (!thread || thread->task == states[change->to->state])
		return rc;
	if (thread->task == TASK_DEAD && (int32_t)tid == px->tracks.pid)
		return 0; /* the whole process would end with its main thread */
	task.has_cpu = task.has_tid = task.has_state = true;
	task.cpu = change->to->p >= 0 ? change->to->p : now->p >= 0 ? now->p : 0;
	task.comm = comm;
	task.tid = tid;
	if (thread->task == TASK_DEAD)
		rc = replace_dead(px, change->time, task);
	if (rc)
		return rc;
	task.state = thread->task = states[change->to->state];
	return perfetto_threads_put_task(px, change->time, &task);
}

/* The innermost frame names a system call: `read(7: /data/x)`. */
static int call_name(struct perfetto *px, uint32_t stack, uint32_t *name)
{
	const struct stacktab *st = &px->st;
	uint32_t ours;
	int rc = stacktab_stack(&px->st, px->tables, stack, &ours);

	*name = 0;
	if (!rc && ours)
		*name = st->functions[st->frames[st->frame_ids[st->stacks[ours].first]].function].name;
	return rc || *name ? rc : pf_text(px, "system call", name);
}

/* Shows a system call as a slice of the thread. */
static int show_call(struct perfetto *px, const struct tl_change *change)
{
	bool begins = change->to->state == G_SYSCALL, ends = change->g->now.state == G_SYSCALL;
	uint32_t tid = px->census->goroutines[change->g->serial].m;
	struct pf_event ev = {
		.time = change->time, .type = begins ? PF_BEGIN : PF_END, .category = PF_SYSCALL};
	const struct pf_thread *thread;
	int rc;

	if (!tid || begins == ends)
		return 0;
	thread = pf_thread(&px->tracks, tid, NULL, &rc);
	if (thread && begins)
		rc = call_name(px, change->to->stack, &ev.name);
	if (!thread || rc)
		return rc;
	ev.track = thread->track;
	return pf_put_event(px, &ev);
}

/* --- a Go program --- */

/* Ends slices until only `depth` are open. */
static int close_to(struct perfetto *px, struct pf_thread *thread, uint8_t depth, uint64_t time)
{
	struct pf_event ev = {.time = time, .track = thread->track, .type = PF_END};
	int rc = 0;

	while (thread->depth > depth && !rc) {
		ev.category = thread->depth == PF_DEPTH_GOROUTINE ? PF_THREAD : PF_OS;
		thread->depth--;
		thread->off_cpu = 0;
		rc = pf_put_event(px, &ev);
	}
	return rc;
}

static int open_slice(struct perfetto *px, struct pf_thread *thread, struct pf_event *ev)
{
	ev->track = thread->track;
	ev->type = PF_BEGIN;
	thread->depth++;
	return pf_put_event(px, ev);
}

static int enter_thread(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change)
{
	int rc;
	struct pf_thread *thread = pf_thread(&px->tracks, change->to->m, NULL, &rc);
	struct pf_event ev = {.time = change->time,
			      .category = PF_THREAD,
			      .name = g->name,
			      .number_is = PF_GOID,
			      .number = change->g->goid};

	if (!thread)
		return rc;
	rc = close_to(px, thread, PF_DEPTH_IDLE, change->time);
	thread->serial = change->g->serial;
	g->thread = change->to->m;
	return rc ? rc : open_slice(px, thread, &ev);
}

static int perfetto_threads_begin_call(struct perfetto *px, const struct tl_change *change)
{
	int rc;
	struct pf_thread *thread = pf_thread(&px->tracks, change->to->m, NULL, &rc);
	struct pf_event ev = {.time = change->time, .category = PF_OS};

	if (!thread)
		return rc;
	rc = call_name(px, change->to->stack, &ev.name);
	return rc ? rc : open_slice(px, thread, &ev);
}

/* Returns the thread that the goroutine was on, if it is still there, else NULL. */
static struct pf_thread *perfetto_threads_thread_of(struct perfetto *px, const struct pf_goroutine *g,
						    uint32_t serial, int *rc)
{
	struct pf_thread *thread = NULL;

	*rc = 0;
	if (g->thread)
		thread = pf_thread(&px->tracks, g->thread, NULL, rc);
	return thread && thread->depth && thread->serial == serial ? thread : NULL;
}

static bool is_on_thread(const struct ledger_interval *interval)
{
	return interval->m && (interval->state == G_RUNNING || interval->state == G_SYSCALL);
}

/* If the goroutine keeps its thread, as at the end of a system call, its slice continues. */
static int move_goroutine(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change)
{
	bool on = is_on_thread(change->to);
	int rc;
	struct pf_thread *thread = perfetto_threads_thread_of(px, g, change->g->serial, &rc);
	bool stays = thread && on && g->thread == change->to->m;

	if (thread)
		rc = close_to(px, thread, stays ? PF_DEPTH_GOROUTINE : PF_DEPTH_IDLE, change->time);
	if (!stays)
		g->thread = 0;
	if (!rc && on && !stays)
		rc = enter_thread(px, g, change);
	return rc || !on || change->to->state != G_SYSCALL ? rc : perfetto_threads_begin_call(px, change);
}

static int show_goroutine(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change)
{
	uint32_t before = g->thread;
	int rc = move_goroutine(px, g, change);

	if (!rc && before)
		rc = pf_cpus_update(px, before, change->time);
	if (!rc && g->thread && g->thread != before)
		rc = pf_cpus_update(px, g->thread, change->time);
	return rc;
}

static int show_off_cpu(struct perfetto *px, const struct tl_range *range, uint32_t name, bool begins)
{
	int rc;
	const struct pf_goroutine *g = pf_goroutine(&px->tracks, range->g, &rc);
	struct pf_thread *thread = g ? perfetto_threads_thread_of(px, g, range->g, &rc) : NULL;
	struct pf_event ev = {.time = range->since,
			      .category = PF_OS,
			      .name = name,
			      .number_is = PF_GOID,
			      .number = px->census->goroutines[range->g].goid};

	if (!thread || begins == (thread->off_cpu != 0))
		return rc;
	if (!begins)
		return thread->off_cpu == range->id ? close_to(px, thread, thread->depth - 1, range->until)
						    : 0;
	thread->off_cpu = range->id;
	return open_slice(px, thread, &ev);
}

int pf_threads_off_cpu(struct perfetto *px, const struct tl_range *range, uint32_t name, bool begins)
{
	int rc = show_off_cpu(px, range, name, begins);
	const struct pf_goroutine *g = rc ? NULL : pf_goroutine(&px->tracks, range->g, &rc);

	return g && g->thread ? pf_cpus_update(px, g->thread, begins ? range->since : range->until) : rc;
}

int pf_threads_move(struct perfetto *px, uint32_t tid, uint32_t cpu, uint64_t time)
{
	int rc;
	struct pf_thread *thread = pf_thread(&px->tracks, tid, NULL, &rc);

	if (!thread)
		return rc;
	thread->cpu = cpu;
	return pf_cpus_update(px, tid, time);
}

int pf_threads_change(struct perfetto *px, struct pf_goroutine *g, const struct tl_change *change)
{
	int rc;

	if (!px->census->threads)
		return px->census->off_cpu || px->census->cpus ? show_goroutine(px, g, change) : 0;
	rc = show_task(px, change);
	return rc ? rc : show_call(px, change);
}
