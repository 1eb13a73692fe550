/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/cpu/off_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/machine.h"
#include "util/utf8.h"

enum {
	MAX_TAKERS = 4096,
	MAX_THREADS = 1 << 14, /* tracked individually; Go's own limit is 10,000 at once */
	COMM_BYTES = 16,
};

void off_cpu_free(struct off_cpu *off)
{
	free(off->intervals);
	free(off->moves);
	free(off->threads);
	free(off->takers);
	free(off->listed);
	map64_free(&off->thread_by_tid);
}

/* Returns NULL if there are too many threads, or when out of memory. */
static struct off_cpu_thread *off_cpu_thread_of(struct off_cpu *off, uint32_t tid)
{
	uint32_t at = map64_find(&off->thread_by_tid, tid);

	if (at != MAP64_NONE)
		return &off->threads[at];
	if (off->nthreads == MAX_THREADS)
		return NULL;
	at = (uint32_t)off->nthreads;
	if (array_grow(&off->threads, &off->thread_capacity, at + 1u, sizeof(*off->threads)) ||
	    map64_set(&off->thread_by_tid, tid, at)) {
		off->view->oom = true;
		return NULL;
	}
	off->nthreads++;
	off->threads[at] = (struct off_cpu_thread){.cpu = {.tid = tid}};
	return &off->threads[at];
}

/* --- intervals --- */

static enum off_cpu_why why_of(const struct raw_record *rec)
{
	switch (rec->status) {
	case LEFT_ASLEEP:
	case LEFT_DISK:
		return rec->g ? OFF_CPU_ASLEEP : OFF_CPU_PAGE_FAULT;
	case LEFT_STOPPED:
		return OFF_CPU_STOPPED;
	case LEFT_INTERRUPTED:
		return OFF_CPU_INTERRUPTS;
	default:
		return OFF_CPU_PREEMPTED;
	}
}

/* Returns the name of what took the CPU; 0 = nothing: the thread waits because of a quota or only briefly. */
static uint32_t taker_of(struct off_cpu *off, const struct raw_record *rec)
{
	const uint64_t words[] = {rec->goid, rec->p};
	char comm[COMM_BYTES + 1] = {0};
	size_t len;
	uint32_t id;

	if (rec->status != LEFT_RUNNABLE || !rec->g)
		return 0;
	if (rec->g == OFF_CPU_OWN)
		return strtab_add_str(off->view->strings, "the program's own threads");
	memcpy(comm, words, COMM_BYTES);
	/* The kernel cuts it after 15 bytes, even inside a character. */
	len = text_whole(comm, strlen(comm));
	/* Any process of the machine can take the CPU, under any name. */
	if (off->ntakers >= MAX_TAKERS && !strtab_find(off->view->strings, comm, len))
		return strtab_add_str(off->view->strings, "(others)");
	id = strtab_add(off->view->strings, comm, len);
	off->view->oom = off->view->oom || (!id && len);
	return id;
}

/* Removes the part of the interval that is already known: the log may report one that is not over yet. */
static void leave_out(struct off_cpu_interval *interval, const struct off_cpu_thread *thread,
		      uint64_t watched_since)
{
	uint64_t from = thread->until > watched_since ? thread->until : watched_since;

	if (thread->since == interval->since)
		interval->throttled_ns -= interval->throttled_ns < thread->throttled_ns
						  ? interval->throttled_ns
						  : thread->throttled_ns;
	if (interval->since < from)
		interval->since = from;
}

static void off_cpu_keep(struct off_cpu *off, struct off_cpu_thread *thread, struct off_cpu_interval interval)
{
	uint64_t whole_since = interval.since, throttled = interval.throttled_ns, ns;

	leave_out(&interval, thread, off->watched_since);
	thread->since = whole_since;
	thread->throttled_ns = throttled;
	if (interval.since >= interval.until)
		return;
	thread->until = interval.until;
	ns = interval.until - interval.since;
	if (interval.throttled_ns > ns)
		interval.throttled_ns = ns;
	thread->cpu.off_ns[OFF_CPU_THROTTLED] += interval.throttled_ns;
	thread->cpu.off_ns[interval.why] += ns - interval.throttled_ns;
	if (array_grow(&off->intervals, &off->capacity, off->n + 1, sizeof(*off->intervals))) {
		off->view->oom = true;
		return;
	}
	off->intervals[off->n++] = interval;
	off->view->pending++;
}

static void take_death(struct off_cpu *off, const struct raw_record *rec)
{
	struct off_cpu_thread *thread = off_cpu_thread_of(off, rec->tid);

	if (!thread)
		return;
	if (rec->arg >= thread->cpu_seen && rec->arg2 >= thread->wait_seen) {
		thread->cpu.on_cpu_ns += rec->arg - thread->cpu_seen;
		thread->cpu.wait_ns += rec->arg2 - thread->wait_seen;
		thread->cpu.has_times = true;
	}
	/* The tid may be reused by a thread whose times begin at 0. */
	thread->cpu_seen = thread->wait_seen = 0;
}

void off_cpu_take(struct off_cpu *off, const struct raw_record *rec)
{
	struct off_cpu_interval interval = {.since = rec->arg, .until = rec->time, .tid = rec->tid};
	struct off_cpu_thread *thread;

	off->known = true;
	if (rec->status == LEFT_DEAD) {
		take_death(off, rec);
		return;
	}
	thread = rec->arg < rec->time ? off_cpu_thread_of(off, rec->tid) : NULL;
	if (!thread)
		return;
	interval.why = why_of(rec);
	interval.taker = taker_of(off, rec);
	if (rec->status == LEFT_RUNNABLE)
		interval.throttled_ns = rec->arg2;
	off_cpu_keep(off, thread, interval);
}

void off_cpu_take_move(struct off_cpu *off, const struct raw_record *rec)
{
	if (rec->arg > MAX_CPUS || !off_cpu_thread_of(off, rec->tid))
		return;
	off->knows_cpus = true;
	if (array_grow(&off->moves, &off->move_capacity, off->nmoves + 1, sizeof(*off->moves))) {
		off->view->oom = true;
		return;
	}
	off->moves[off->nmoves++] =
		(struct cpu_move){.time = rec->time, .tid = rec->tid, .cpu = (uint32_t)rec->arg};
	off->view->pending++;
}

/* --- figures from the kernel --- */

/* A thread in the first reading existed before the trace; later ones are new. */
static void take_time(struct off_cpu *off, const struct log_thread_time *now, bool first)
{
	struct off_cpu_thread *thread = off_cpu_thread_of(off, now->tid);

	if (!thread)
		return;
	if (!first && now->cpu_ns >= thread->cpu_seen && now->wait_ns >= thread->wait_seen) {
		thread->cpu.on_cpu_ns += now->cpu_ns - thread->cpu_seen;
		thread->cpu.wait_ns += now->wait_ns - thread->wait_seen;
	}
	thread->cpu.has_times = true;
	thread->cpu_seen = now->cpu_ns;
	thread->wait_seen = now->wait_ns;
}

void off_cpu_take_times(struct off_cpu *off, const struct log_thread_times *times)
{
	const struct log_thread_time *all = (const struct log_thread_time *)(times + 1);
	bool first = !off->has_times && !(off->view->target->flags & LOG_TARGET_SPAWNED);

	off->known = off->has_times = true;
	for (uint32_t i = 0; i < times->n; i++)
		take_time(off, &all[i], first);
}

void off_cpu_take_quota(struct off_cpu *off, const struct log_record *record)
{
	size_t most = sizeof(off->cgroup) - 1;

	off->quota = *(const struct log_quota *)record->data;
	if (off->quota.len < most)
		most = off->quota.len;
	memcpy(off->cgroup, (const struct log_quota *)record->data + 1, most);
	off->cgroup[most] = '\0';
	if (!off->has_quota)
		off->first_quota = off->quota;
	off->has_quota = true;
}

static int by_ns(const void *a, const void *b)
{
	const struct cpu_taker *one = a, *other = b;

	return (one->ns < other->ns) - (one->ns > other->ns);
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void list_threads(struct off_cpu *off, struct cpu_figures *figures)
{
	struct thread_cpu *listed = calloc(off->nthreads + 1, sizeof(*listed));

	free(off->listed);
	off->listed = listed;
	for (size_t i = 0; listed && i < off->nthreads; i++) {
		listed[figures->nthreads++] = off->threads[i].cpu;
		figures->on_cpu_ns += off->threads[i].cpu.on_cpu_ns;
		figures->wait_ns += off->threads[i].cpu.wait_ns;
	}
	figures->threads = listed;
}

void off_cpu_figures(struct off_cpu *off, struct cpu_figures *figures)
{
	*figures = (struct cpu_figures){
		.known = off->known, .left_out = off->left_out, .has_quota = off->has_quota};
	memcpy(figures->off_ns, off->off_ns, sizeof(figures->off_ns));
	if (off->ntakers)
		qsort(off->takers, off->ntakers, sizeof(*off->takers), by_ns);
	figures->takers = off->takers;
	figures->ntakers = (unsigned)off->ntakers;
	list_threads(off, figures);
	figures->quota = off->quota;
	figures->cgroup = off->cgroup;
	figures->periods = since(off->quota.periods, off->first_quota.periods);
	figures->throttled_periods = since(off->quota.throttled_periods, off->first_quota.throttled_periods);
	figures->throttled_ns = since(off->quota.throttled_ns, off->first_quota.throttled_ns);
}
