/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Translates the kernel's records to ops. A handler first brings the state to what the record implies, then
 * takes the step.
 *
 * The kernel's order (Linux 6.18 kernel/sched/core.c): sched_waking comes before its thread can be chosen to
 * run, sched_switch while the CPU's run queue is locked, sched_process_fork before the child is woken. Only a
 * waking can be early: the sleeper has set its state but is still on its CPU.
 */
#include "model/threads/front_end.h"

#include "model/step.h"
#include "model/threads/syscalls.h"
#include "model/threads/life.h"
#include "model/threads/names.h"
#include "model/threads/step.h"
#include "model/threads/wake.h"

/* A record, and the CPU that it is from. */
struct seen {
	const struct raw_record *rec;
	struct p *cpu;
};

/*
 * Puts the thread that acts in this record on its CPU and returns it. It has not gone to sleep, so an earlier
 * waking had no effect.
 */
static struct thread_life *force_thread_running(struct model *md, const struct seen *seen)
{
	struct thread_life *t = thread_get(md, seen->rec->tid, false);

	if (!t || !thread_on_cpu(md, t, seen->cpu))
		return NULL;
	t->waking = (struct early_waking){0};
	t->g->last_hit = seen->rec->time;
	return t;
}

/*
 * A thread that was not listed, and whose creation was not seen although nothing was lost, is already off the
 * process's list and leaves its CPU for the last time (release_task, Linux 6.18 kernel/exit.c).
 */
static bool is_gone(struct model *md, uint64_t tid)
{
	const struct log_loss *loss = &md->totals.loss;

	return !loss->ring_full && !loss->unreadable && !loss->missed && !thread_find(md, tid);
}

/* --- leaving a CPU --- */

static uint32_t stop_reason(struct model *md, const struct thread_life *t)
{
	return string_id(md,
			 syscall_yields(&md->threads->calls, &md->target, t->call) ? "yield" : "preempted");
}

/*
 * Takes the call that the thread is in. After a signal, the kernel lets a sleep go on by restart_syscall,
 * which does not say what it goes on with: the thread's last call (Linux 6.18 kernel/signal.c).
 */
static void take_call(struct model *md, struct thread_life *t, uint64_t call, uint64_t wait)
{
	t->call = call;
	t->file = wait_file(wait);
	if (t->last_call && syscall_restarts(&md->threads->calls, &md->target, t->call)) {
		t->call = t->last_call;
		t->file = t->last_file;
	} else if (t->call) {
		t->last_call = t->call;
		t->last_file = t->file;
	}
}

static void fall_asleep(struct model *md, struct thread_life *t, const struct raw_record *rec)
{
	struct m *m = t->g->m;
	bool faults = !LEFT_CALL(rec->arg) && rec->status != LEFT_STOPPED, worker = thread_is_worker(md, t);
	uint32_t leaf = faults ? string_id(md, worker ? "[io_uring]" : "[page fault]")
			       : thread_leaf(md, t->call, t->file);
	uint32_t stack = thread_stack(md, t, rec->stack, leaf);
	struct early_waking waking = t->waking;
	struct wait wait = {.call = t->call,
			    .file = t->file,
			    .lock = WAIT_KIND(rec->arg2) == FILE_LOCK,
			    .left = rec->status,
			    .hint = thread_stack_hint(md, rec->stack),
			    .worker = worker};

	t->reason = thread_reason(md, &wait);
	annotators_observe(&md->annotators, &(struct probe_hit){.rec = rec, .m = m});
	step_go_block(md, m, t->reason, stack);
	step_proc_stop(md, m);
	t->call_stack = thread_call_stack(md, t, rec->stack, leaf);
	if (!waking.waker)
		return;
	thread_unblock(md, t->g, &waking);
	t->early_unblock = t->g->last_op - md->ops.before;
	t->early_generation = md->generation.number;
}

static void switch_out(struct model *md, const struct seen *seen)
{
	const struct raw_record *rec = seen->rec;
	bool gone = rec->status == LEFT_DEAD && is_gone(md, rec->tid);
	struct thread_life *t = gone ? NULL : thread_get(md, rec->tid, false);
	uint64_t ran = LEFT_RAN_US(rec->arg) * 1000;
	struct m *m;

	if (!t || !thread_on_cpu_since(md, t, seen->cpu, ran < rec->time ? rec->time - ran : rec->time))
		return;
	m = t->g->m;
	t->g->last_hit = rec->time;
	if (rec->status == LEFT_DEAD) {
		thread_die(md, t);
		return;
	}
	thread_end_call(md, t);
	/* A thread that is preempted on its way out of a call still has the call's number: its end was seen
	 * before. */
	if (rec->status != LEFT_RUNNABLE || t->call || !t->last_call || !md->threads->sees_calls)
		take_call(md, t, LEFT_CALL(rec->arg), rec->arg2);
	if (rec->status == LEFT_RUNNABLE) {
		step_go_stop(md, m, stop_reason(md, t), 0);
		step_proc_stop(md, m);
	} else {
		fall_asleep(md, t, rec);
	}
	t->waking = (struct early_waking){0};
}

/* --- coming to a CPU --- */

static void switch_in(struct model *md, const struct seen *seen)
{
	struct thread_life *t = is_gone(md, seen->rec->g) ? NULL : thread_get(md, seen->rec->g, false);

	if (!t) {
		cpu_clear(md, seen->cpu);
		return;
	}
	t->g->last_hit = seen->rec->time;
	thread_off_cpu(md, t);
	if (t->g->status == G_WAITING) {
		md->ops.provenance =
			md->totals.loss.ring_full || md->totals.loss.missed ? REPAIRED : INFERRED;
		step_go_unblock(md, NULL, t->g, 0);
		md->ops.provenance = OBSERVED;
	}
	cpu_clear(md, seen->cpu);
	thread_enter_cpu(md, t, seen->cpu);
	if (t->g->m)
		thread_resume_call(md, t);
}

static void on_switch(struct model *md, const struct seen *seen)
{
	if (is_tid(seen->rec->tid))
		switch_out(md, seen);
	else
		cpu_clear(md, seen->cpu);
	if (is_tid(seen->rec->g) && seen->rec->g != seen->rec->tid)
		switch_in(md, seen);
}

/* --- being woken --- */

/* Sets the waker's stack: its own frames if it is a thread of the target. */
static bool describe_waker(struct model *md, const struct seen *seen, struct early_waking *waking)
{
	const struct raw_record *rec = seen->rec;
	struct thread_life *waker;

	switch (rec->status) {
	case WAKER_THREAD:
		waker = force_thread_running(md, seen);
		if (!waker)
			return false;
		waking->stack =
			thread_stack(md, waker, rec->stack, thread_leaf(md, waker->call, waker->file));
		return true;
	case WAKER_OTHER:
		waking->stack = external_waker_stack(md, rec->tid, rec->arg);
		return true;
	case WAKER_INTERRUPT:
		waking->stack = interrupt_stack(md, rec->arg);
		return true;
	default:
		return false;
	}
}

static void on_waking(struct model *md, const struct seen *seen)
{
	const struct raw_record *rec = seen->rec;
	struct early_waking waking = {.waker = rec->status, .tid = rec->tid, .cpu = seen->cpu->id};
	struct thread_life *t;

	if (!is_tid(rec->g) || rec->g == rec->tid || !describe_waker(md, seen, &waking))
		return;
	t = thread_get(md, rec->g, true);
	if (!t)
		return;
	thread_take_back_unblock(md, t);
	if (t->g->m) {
		t->waking = waking; /* proves nothing: a record that it left its CPU may have been lost */
		return;
	}
	t->g->last_hit = rec->time;
	if (t->g->status == G_WAITING)
		thread_unblock(md, t->g, &waking);
}

/* --- lives --- */

/*
 * The child inherits the name (copy_process). A parent outside the process created the child together with
 * the process.
 */
static void on_fork(struct model *md, const struct seen *seen)
{
	const struct raw_record *rec = seen->rec;
	struct thread_life *parent, *child, *old = is_tid(rec->g) ? thread_find(md, rec->g) : NULL;
	enum provenance before = md->ops.provenance;

	if (rec->arg != md->target.pid || !is_tid(rec->g) || rec->g == rec->tid)
		return;
	/* The process itself: the model has begun with its first thread (threads_start_spawned). */
	if (old && rec->goid != md->target.pid && !old->g->last_hit) {
		old->g->last_hit = rec->time;
		return;
	}
	if (old) { /* its end was not seen */
		md->ops.provenance = REPAIRED;
		thread_die(md, old);
		md->ops.provenance = before;
	}
	if (rec->goid != md->target.pid || !is_tid(rec->tid)) {
		thread_get(md, rec->g, false);
		return;
	}
	parent = force_thread_running(md, seen);
	child = parent ? thread_new(md, (uint32_t)rec->g) : NULL;
	if (!child)
		return;
	child->comm = parent->comm;
	child->g->last_hit = rec->time;
	thread_end_call(md, parent);
	step_go_create(md, parent->g->m, child->g, false,
		       thread_stack(md, parent, rec->stack, thread_leaf(md, parent->call, parent->file)));
	thread_first_op(md, child);
	thread_resume_call(md, parent);
}

static void on_exit(struct model *md, const struct seen *seen)
{
	struct thread_life *t = force_thread_running(md, seen);

	if (!t)
		return;
	t->exiting = true;
	t->losses = md->view.losses;
}

/*
 * exec by a thread other than the first: it takes over the tid of the first thread, whose life is over
 * (de_thread, Linux 6.18 fs/exec.c). Names of its code are gone.
 */
static void take_over_tid(struct model *md, const struct seen *seen, struct thread_life *old)
{
	struct thread_life *first = thread_find(md, seen->rec->tid), *t;
	enum provenance before = md->ops.provenance;

	md->ops.provenance = INFERRED;
	if (first)
		thread_die(md, first);
	if (!thread_on_cpu(md, old, seen->cpu))
		return;
	thread_end_call(md, old);
	t = thread_new(md, seen->rec->tid);
	if (t) {
		t->comm = old->comm;
		step_go_create(md, old->g->m, t->g, false, 0);
		thread_first_op(md, t);
	}
	thread_die(md, old);
	if (t)
		thread_enter_cpu(md, t, seen->cpu);
	md->ops.provenance = before;
}

static void on_exec(struct model *md, const struct seen *seen)
{
	struct thread_life *old = is_tid(seen->rec->g) ? thread_find(md, seen->rec->g) : NULL, *t;

	if (old && seen->rec->g != seen->rec->tid && is_tid(seen->rec->tid))
		take_over_tid(md, seen, old);
	t = force_thread_running(md, seen);
	if (!t)
		return;
	thread_end_call(md, t);
	annotators_op(&md->annotators, OP_GO_DESTROY, t->g->m);
	t->start = 0;
	t->exiting = false;
}

/* --- system calls --- */

static void on_call(struct model *md, const struct seen *seen)
{
	const struct raw_record *rec = seen->rec;
	struct thread_life *t = force_thread_running(md, seen);

	if (!t)
		return;
	md->threads->sees_calls = !md->threads->calls_left_out;
	thread_end_call(md, t);
	take_call(md, t, rec->arg, rec->arg2);
	t->call_stack = thread_stack(md, t, rec->stack, thread_leaf(md, t->call, t->file));
	/* The end of a call that was still in the ring when calls were left out will not be seen. */
	if (md->threads->sees_calls)
		step_syscall_begin(md, t->g->m, t->call_stack);
}

static void on_call_done(struct model *md, const struct seen *seen)
{
	struct thread_life *t = force_thread_running(md, seen);

	if (!t)
		return;
	md->threads->sees_calls = !md->threads->calls_left_out;
	thread_end_call(md, t);
	t->call = t->file = 0;
}

/* --- the program's own code --- */

static void on_function(struct model *md, const struct seen *seen)
{
	struct thread_life *t = force_thread_running(md, seen);
	struct probe_hit hit = {.rec = seen->rec, .p = seen->cpu, .text = md->text};

	if (!t)
		return;
	thread_end_call(md, t);
	hit.m = t->g->m;
	if (seen->rec->site == SITE_FUNCTION_BEGIN)
		hit.stack = thread_stack(md, t, seen->rec->stack, 0);
	annotators_observe(&md->annotators, &hit);
}

static void on_sample(struct model *md, const struct raw_record *rec)
{
	struct thread_life *t = is_tid(rec->tid) ? thread_find(md, rec->tid) : NULL;
	struct probe_hit hit = {.rec = rec, .sampled = t ? t->g : NULL};

	if (!rec->tid || rec->tid >= SYNTHETIC_TID)
		return;
	hit.p = p_find(&md->entities, rec->p + 1);
	hit.stack = t ? thread_stack(md, t, rec->stack, 0) : stack_table_find(&md->stacks, rec->stack);
	annotators_observe(&md->annotators, &hit);
}

typedef void (*seen_handler)(struct model *md, const struct seen *seen);

static const seen_handler handlers[UINT8_MAX + 1] = {
#define SITE(name, number, program, go_handler, threads_handler) [SITE_##name] = threads_handler,
#include "bpf/site_list.h"
#undef SITE
};

void threads_observe(struct model *md, const struct raw_record *rec)
{
	struct seen seen = {.rec = rec};
	seen_handler handle = handlers[rec->site];

	if (rec->site == SITE_CPU_SAMPLE)
		on_sample(md, rec);
	if (!handle)
		return;
	md->ops.now = rec->time;
	md->ops.provenance = OBSERVED;
	seen.cpu = cpu_get(md, rec->p);
	if (seen.cpu && seen.cpu != md->synthetic.p)
		handle(md, &seen);
	md->ops.provenance = OBSERVED;
}
