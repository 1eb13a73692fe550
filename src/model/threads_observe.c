/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the kernel's records to ops. A handler first makes the state what the
 * record says it was, then takes the step.
 *
 * The kernel's order (Linux 6.18 kernel/sched/core.c): sched_waking comes before
 * its thread can be chosen, sched_switch while the CPU's queue is locked,
 * sched_process_fork before the child is woken. Only a waking can be early: the
 * sleeper has said that it will sleep, but is still on its way off its CPU.
 */
#include "threads.h"

/* A record, and the CPU that it is from. */
struct seen {
	const struct raw_record *rec;
	struct p *cpu;
};

/* Who acts in this record, put on its CPU. What it does shows that it has not gone to sleep: an earlier
 * waking was in vain. */
static struct thread *acting(struct model *md, const struct seen *seen)
{
	struct thread *t = thread_get(md, seen->rec->tid, false);

	if (!t || !thread_on_cpu(md, t, seen->cpu))
		return NULL;
	t->waking = (struct early_waking){0};
	t->g->last_hit = seen->rec->time;
	return t;
}

/* A P is written in another program's name, if the model has nobody on that CPU. */
static void unblock_from_outside(struct model *md, struct g *g, const struct early_waking *waking)
{
	struct m stranger = {.tid = waking->tid};
	uint32_t *known = map64_get(&md->m_by_tid, waking->tid);
	struct p *p = cpu_get(md, (uint64_t)waking->cpu);
	bool ours = known && (md->ms[*known]->g || md->ms[*known]->p);
	bool on_cpu = !ours && is_tid(waking->tid) && p && p->status == P_IDLE;

	if (on_cpu)
		step_proc_start(md, &stranger, p);
	step_go_unblock(md, on_cpu ? &stranger : NULL, g, waking->stack);
	if (on_cpu)
		step_proc_stop(md, &stranger);
}

static void unblock(struct model *md, struct g *g, const struct early_waking *waking)
{
	struct thread *waker;

	switch (waking->waker) {
	case WAKER_THREAD:
		waker = thread_find(md, waking->tid);
		step_go_unblock(md, waker ? waker->g->m : NULL, g, waking->stack);
		break;
	case WAKER_OTHER:
		unblock_from_outside(md, g, waking);
		break;
	default:
		step_go_unblock(md, NULL, g, waking->stack);
	}
}

/*
 * A thread that nobody has listed, and whose birth was not seen though nothing
 * was lost, has been taken from the process's list already and only has to
 * leave its CPU for the last time (release_task, Linux 6.18 kernel/exit.c).
 */
static bool is_gone(const struct model *md, uint64_t tid)
{
	const struct log_loss *loss = &md->totals.loss;

	return !loss->ring_full && !loss->unreadable && !loss->missed && !thread_find(md, tid);
}

/* --- leaving a CPU --- */

static uint32_t stop_reason(struct model *md, const struct thread *t)
{
	return tables_string(md, call_yields(&md->target, t->call) ? "yield" : "preempted");
}

static void fall_asleep(struct model *md, struct thread *t, const struct raw_record *rec)
{
	struct m *m = t->g->m;
	bool faults = !rec->arg && rec->status != LEFT_STOPPED;
	uint32_t leaf = faults ? tables_string(md, "[page fault]") : thread_leaf(md, rec->arg, rec->arg2);
	uint32_t stack = thread_stack(md, t, rec->stack, leaf);
	struct early_waking waking = t->waking;
	struct wait wait = {.call = rec->arg,
			    .file = rec->arg2,
			    .left = rec->status,
			    .hint = thread_stack_hint(md, rec->stack)};

	t->reason = thread_reason(md, &wait);
	step_go_block(md, m, t->reason, stack);
	step_proc_stop(md, m);
	t->call_stack = stack;
	if (!waking.waker)
		return;
	unblock(md, t->g, &waking);
	t->early_unblock = t->g->last_op - md->ops.before;
	t->early_generation = md->generation;
}

static void switch_out(struct model *md, const struct seen *seen)
{
	const struct raw_record *rec = seen->rec;
	bool gone = rec->status == LEFT_DEAD && is_gone(md, rec->tid);
	struct thread *t = gone ? NULL : thread_get(md, rec->tid, false);
	struct m *m;

	if (!t || !thread_on_cpu(md, t, seen->cpu))
		return;
	m = t->g->m;
	t->g->last_hit = rec->time;
	if (rec->status == LEFT_DEAD) {
		thread_die(md, t);
		return;
	}
	thread_end_call(md, t);
	t->call = rec->arg;
	t->file = rec->arg2;
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
	struct thread *t = is_gone(md, seen->rec->g) ? NULL : thread_get(md, seen->rec->g, false);

	if (!t) {
		cpu_clear(md, seen->cpu);
		return;
	}
	t->g->last_hit = seen->rec->time;
	thread_off_cpu(md, t);
	if (t->g->status == G_WAITING) {
		md->cause = md->totals.loss.ring_full || md->totals.loss.missed ? REPAIRED : INFERRED;
		step_go_unblock(md, NULL, t->g, 0);
		md->cause = SEEN;
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

/*
 * A thread that is runnable is not woken: that it was said to have been, by
 * what came before it left its CPU, was wrong. That waking only kept it there.
 */
static void take_back_unblock(struct model *md, struct thread *t)
{
	struct op *op;

	if (!t->early_unblock || t->early_generation != md->generation ||
	    t->g->last_op != md->ops.before + t->early_unblock)
		return;
	op = &md->ops.ops[t->early_unblock - 1];
	*op = (struct op){.time = op->time, .kind = OP_NONE, .p = NO_P};
	t->early_unblock = 0;
	t->g->status = G_WAITING;
}

/* What has not come to a CPU for so long has most likely not been woken: few queues are as long. */
enum { DOUBT_NS = 100000000 };

void thread_doubt_waking(struct model *md, struct thread *t)
{
	if (md->last_time > t->g->last_hit + DOUBT_NS)
		take_back_unblock(md, t);
}

/* The waker's own frames, if it is a thread of ours. */
static bool look_at_waker(struct model *md, const struct seen *seen, struct early_waking *waking)
{
	const struct raw_record *rec = seen->rec;
	struct thread *waker;

	switch (rec->status) {
	case WAKER_THREAD:
		waker = acting(md, seen);
		if (!waker)
			return false;
		waking->stack =
			thread_stack(md, waker, rec->stack, thread_leaf(md, waker->call, waker->file));
		return true;
	case WAKER_OTHER:
		waking->stack = outside_stack(md, rec->tid, rec->arg);
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
	struct thread *t;

	if (!is_tid(rec->g) || rec->g == rec->tid || !look_at_waker(md, seen, &waking))
		return;
	t = thread_get(md, rec->g, true);
	if (!t)
		return;
	take_back_unblock(md, t);
	if (t->g->m) {
		t->waking = waking; /* it proves nothing: that it left its CPU may have been lost */
		return;
	}
	t->g->last_hit = rec->time;
	if (t->g->status == G_WAITING)
		unblock(md, t->g, &waking);
}

void thread_fell_asleep_unseen(struct model *md, struct thread *t)
{
	struct early_waking waking = t->waking;
	struct m *m = t->g->m;

	t->waking = (struct early_waking){0};
	if (m)
		thread_end_call(md, t);
	make_waiting(md, t->g);
	if (m)
		step_proc_stop(md, m);
	if (waking.waker)
		unblock(md, t->g, &waking);
}

/* --- lives --- */

/* It inherits the name (copy_process). Whoever is not of the process made it when the process was made. */
static void on_fork(struct model *md, const struct seen *seen)
{
	const struct raw_record *rec = seen->rec;
	struct thread *parent, *child, *old = is_tid(rec->g) ? thread_find(md, rec->g) : NULL;
	enum cause before = md->cause;

	if (rec->arg != md->target.pid || !is_tid(rec->g) || rec->g == rec->tid)
		return;
	/* The process itself: the log has begun with its first thread (threads_start_spawned). */
	if (old && rec->goid != md->target.pid && !old->g->last_hit) {
		old->g->last_hit = rec->time;
		return;
	}
	if (old) { /* its end was not seen */
		md->cause = REPAIRED;
		thread_die(md, old);
		md->cause = before;
	}
	if (rec->goid != md->target.pid || !is_tid(rec->tid)) {
		thread_get(md, rec->g, false);
		return;
	}
	parent = acting(md, seen);
	child = parent ? thread_new(md, (uint32_t)rec->g) : NULL;
	if (!child)
		return;
	child->comm = parent->comm;
	child->g->last_hit = rec->time;
	thread_end_call(md, parent);
	step_go_create(md, parent->g->m, child->g, false,
		       thread_stack(md, parent, rec->stack, thread_leaf(md, parent->call, parent->file)));
	thread_told(md, child);
	thread_resume_call(md, parent);
}

static void on_exit(struct model *md, const struct seen *seen)
{
	struct thread *t = acting(md, seen);

	if (!t)
		return;
	t->exiting = true;
	t->losses = md->annotations.losses;
}

/*
 * exec by a thread that is not the first: it takes the first one's tid, whose
 * life is over (de_thread, Linux 6.18 fs/exec.c). Names of its code are gone.
 */
static void take_over_tid(struct model *md, const struct seen *seen, struct thread *old)
{
	struct thread *first = thread_find(md, seen->rec->tid), *t;
	enum cause before = md->cause;

	md->cause = INFERRED;
	if (first)
		thread_die(md, first);
	if (!thread_on_cpu(md, old, seen->cpu))
		return;
	thread_end_call(md, old);
	t = thread_new(md, seen->rec->tid);
	if (t) {
		t->comm = old->comm;
		step_go_create(md, old->g->m, t->g, false, 0);
		thread_told(md, t);
	}
	thread_die(md, old);
	if (t)
		thread_enter_cpu(md, t, seen->cpu);
	md->cause = before;
}

static void on_exec(struct model *md, const struct seen *seen)
{
	struct thread *old = is_tid(seen->rec->g) ? thread_find(md, seen->rec->g) : NULL, *t;

	if (old && seen->rec->g != seen->rec->tid && is_tid(seen->rec->tid))
		take_over_tid(md, seen, old);
	t = acting(md, seen);
	if (!t)
		return;
	if (t->calls.n) {
		thread_end_call(md, t);
		functions_end_all(md, t);
	}
	t->start = 0;
	t->exiting = false;
}

/* --- system calls --- */

static void on_call(struct model *md, const struct seen *seen)
{
	const struct raw_record *rec = seen->rec;
	struct thread *t = acting(md, seen);

	if (!t)
		return;
	md->threads->sees_calls = true;
	thread_end_call(md, t);
	t->call = rec->arg;
	t->file = rec->arg2;
	t->call_stack = thread_stack(md, t, rec->stack, thread_leaf(md, rec->arg, rec->arg2));
	step_syscall_begin(md, t->g->m, t->call_stack);
}

static void on_call_done(struct model *md, const struct seen *seen)
{
	struct thread *t = acting(md, seen);

	if (!t)
		return;
	md->threads->sees_calls = true;
	thread_end_call(md, t);
	t->call = t->file = 0;
}

/* --- the program's own code --- */

static void on_function(struct model *md, const struct seen *seen)
{
	struct thread *t = acting(md, seen);

	if (!t)
		return;
	thread_end_call(md, t);
	if (seen->rec->site == SITE_FUNCTION_BEGIN)
		function_begin(md, t, seen->rec);
	else
		function_end(md, t, seen->rec);
}

static void on_sample(struct model *md, const struct seen *seen)
{
	struct raw_record rec = *seen->rec;
	struct thread *t = is_tid(rec.tid) ? thread_find(md, rec.tid) : NULL;
	struct op *op;

	rec.p++; /* as the keys of CPUs are */
	rec.g = t ? rec.tid : 0;
	rec.goid = 0;
	op = sample_take(md, &rec);
	if (op && t)
		op->stack = thread_stack(md, t, rec.stack, 0);
}

typedef void (*seen_handler)(struct model *md, const struct seen *seen);

static const seen_handler handlers[256] = {
	[SITE_SWITCH] = on_switch,
	[SITE_WAKING] = on_waking,
	[SITE_FORK] = on_fork,
	[SITE_THREAD_EXIT] = on_exit,
	[SITE_EXEC] = on_exec,
	[SITE_CALL] = on_call,
	[SITE_CALL_DONE] = on_call_done,
	[SITE_FUNCTION_BEGIN] = on_function,
	[SITE_FUNCTION_END] = on_function,
};

void threads_observe(struct model *md, const struct raw_record *rec)
{
	struct seen seen = {.rec = rec};
	seen_handler handle = handlers[rec->site];

	if (rec->site == SITE_CPU_SAMPLE)
		on_sample(md, &seen);
	if (!handle)
		return;
	md->now = rec->time;
	md->cause = SEEN;
	seen.cpu = cpu_get(md, rec->p);
	if (seen.cpu && seen.cpu != md->stand_in.p)
		handle(md, &seen);
	md->cause = SEEN;
}
