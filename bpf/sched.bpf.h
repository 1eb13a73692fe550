/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Scheduling of threads: switches, wakeups, creation and exit. */
#ifndef GOTRACE_SCHED_BPF_H
#define GOTRACE_SCHED_BPF_H

#include "bpf/calls.bpf.h"
#include "bpf/interrupt.bpf.h"
#include "bpf/left.bpf.h"
#include "bpf/thread.bpf.h"

/*
 * Records what a traced thread that is about to sleep waits for, and its stack. With --kernel-stacks, the
 * stack recorded when its system call began is not enough. An exiting thread has no memory and a kernel
 * worker no user mode: their stacks have only frames in the kernel.
 */
static __always_inline void fill_wait(void *ctx, struct raw_record *rec, struct task_struct *task,
				      struct user_regs *regs)
{
	struct call_state *known = regs->call ? known_call(MEMBER(task, pid), regs->call) : NULL;

	if (known) {
		rec->arg2 = known->wait;
		rec->stack = known->stack;
		if (!kernel_stacks)
			return;
	}
	if (MEMBER(task, flags) & PF_EXITING)
		regs->ip = 0;
	if (!regs->ip && !kernel_stacks)
		return;
	if (regs->call && regs->ip && !known)
		rec->arg2 = wait_in_call(task, regs, true);
	rec->stack = whole_stack_of(ctx, regs, MEMBER(task, tgid));
}

/* Priorities below this are of threads whose class does not keep prev_sum_exec_runtime. */
#define MAX_RT_PRIO 100 /* include/linux/sched/prio.h */

/*
 * Returns for how long the thread has run since it was chosen, in us; 0 if that is not known. Its sum was
 * just brought up to date (Linux 6.18 kernel/sched/fair.c, set_next_entity and put_prev_entity). With this, a
 * start that the kernel does not report has its time all the same.
 */
static __always_inline uint64_t ran_us(struct task_struct *task)
{
	uint64_t us = (MEMBER(task, se.sum_exec_runtime) - MEMBER(task, se.prev_sum_exec_runtime)) / 1000;

	if (MEMBER(task, prio) < MAX_RT_PRIO)
		return 0;
	return us < 0xffffffff ? us : 0xffffffff;
}

/*
 * A thread with a pending signal stays runnable, whatever its state was. Before Linux 6.14 the tracepoint
 * passes the state from before that check (kernel/sched/core.c, __schedule).
 */
static __always_inline void fill_leaving(void *ctx, struct raw_record *rec, struct task_struct *task,
					 bool preempted, uint64_t state)
{
	struct user_regs regs;

	rec->tid = MEMBER(task, pid);
	rec->goid = MEMBER(task, tgid);
	rec->status = preempted || !state_of(task) ? LEFT_RUNNABLE : left_in(state);
	if (rec->status == LEFT_DISK && !waits_for_io(task))
		rec->status = LEFT_IN_KERNEL;
	user_regs(&regs, task);
	rec->arg = ran_us(task) << 32 | (uint32_t)regs.call;
	if (rec->status != LEFT_RUNNABLE && rec->status != LEFT_DEAD)
		fill_wait(ctx, rec, task, &regs);
}

static __always_inline int switched(void *ctx, bool preempted, struct task_struct *prev,
				    struct task_struct *next, uint64_t state)
{
	struct raw_record rec = {.site = SITE_SWITCH};
	bool leaves = is_traced(MEMBER(prev, tgid)), comes;
	uint32_t come;
	uint64_t began;

	if (!leaves && !is_traced(MEMBER(next, tgid)))
		return 0;
	began = begin_hit();
	if (!began)
		return 0;
	rec.time = bpf_ktime_get_ns();
	if (leaves)
		fill_leaving(ctx, &rec, prev, preempted, state);
	/* Forces another read: keeping both would exceed the stack (512 bytes with all calls). */
	barrier_var(next);
	come = MEMBER(next, tgid);
	comes = is_traced(come);
	if (several && leaves && comes && rec.goid != come) {
		send_timed(&rec);
		rec = (struct raw_record){.site = SITE_SWITCH, .time = rec.time};
	}
	if (comes) {
		rec.g = MEMBER(next, pid);
		rec.goid = come;
	}
	send_timed(&rec);
	end_hit(began, TIMED_CALLS, TIMED_CALLS_NS);
	return 0;
}

/* Exactly one of these three is loaded. From Linux 5.18 on (fa2c3254d7cf, 9c2136be0878): */
SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return switched(ctx, preempt, prev, next, prev_state);
}

/* 5.16 and 5.17 */
SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch_516, bool preempt, unsigned int prev_state, struct task_struct *prev,
	     struct task_struct *next)
{
	return switched(ctx, preempt, prev, next, prev_state);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch_old, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return switched(ctx, preempt, prev, next, state_of(prev));
}

/*
 * Names of threads of other processes that have been sent, so that each is sent once. An evicted name is sent
 * again.
 */
#define OUTSIDERS 1024u

struct outsider {
	uint64_t tid;
	uint64_t comm[COMM_SIZE / 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OUTSIDERS);
	__type(key, uint32_t);
	__type(value, struct outsider);
} outsiders SEC(".maps");

static __always_inline void send_comm_once(struct task_struct *task)
{
	struct outsider this = {.tid = MEMBER(task, pid)}, *sent;
	uint32_t key = this.tid % OUTSIDERS;

	read_comm((char *)this.comm, task);
	sent = bpf_map_lookup_elem(&outsiders, &key);
	if (sent && sent->tid == this.tid && sent->comm[0] == this.comm[0] && sent->comm[1] == this.comm[1])
		return;
	if (sent)
		*sent = this;
	send_comm(MEMBER(task, tgid), (uint32_t)this.tid, (const char *)this.comm);
}

static __always_inline uint64_t stack_of_current(struct task_struct *task)
{
	struct user_regs regs;
	struct call_state *known;

	if (!user_regs(&regs, task))
		return 0;
	known = regs.call ? known_call(MEMBER(task, pid), regs.call) : NULL;
	if (known)
		return known->stack;
	return MEMBER(task, flags) & PF_EXITING ? 0 : stack_of(&regs, MEMBER(task, tgid));
}

/*
 * In an interrupt, the interrupted thread is not the waker. The idle task only finishes the work of
 * interrupts. Kernel threads are recorded by name, because they act on their own.
 */
static __always_inline void fill_waker(struct raw_record *rec, struct task_struct *waker,
				       const struct task_struct *woken)
{
	uint64_t block = cpu_block(waker);
	uint32_t count = preempt_count(waker, block), tid = MEMBER(waker, pid), tgid = MEMBER(waker, tgid);

	if (count & (SOFTIRQ_SERVED | HARDIRQ_MASK | NMI_MASK) || !tid) {
		rec->status = WAKER_INTERRUPT;
		rec->arg = interrupt_that_wakes(block, count, woken);
		return;
	}
	rec->tid = tid;
	if (tgid == MEMBER(woken, tgid)) {
		rec->status = WAKER_THREAD;
		rec->stack = stack_of_current(waker);
		return;
	}
	send_comm_once(waker);
	rec->status = WAKER_OTHER;
	rec->arg = tgid;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *woken)
{
	struct raw_record rec = {.site = SITE_WAKING};
	uint32_t tgid = MEMBER(woken, tgid), tid;
	struct task_struct *waker;
	uint64_t began;

	if (!is_traced(tgid))
		return 0;
	waker = current_task();
	tid = MEMBER(woken, pid);
	if ((uint32_t)MEMBER(waker, pid) == tid)
		return 0; /* it was about to sleep, but no longer is */
	began = begin_hit();
	if (!began)
		return 0;
	rec.time = bpf_ktime_get_ns();
	rec.g = tid;
	rec.goid = tgid;
	fill_waker(&rec, waker, woken);
	send_timed(&rec);
	end_hit(began, TIMED_CALLS, TIMED_CALLS_NS);
	return 0;
}

/* Returns false if too many processes are traced. */
static __always_inline bool follow(uint32_t tgid)
{
	uint32_t shown = pidns_id(tgid);

	return !bpf_map_update_elem(&traced, &tgid, &shown, BPF_ANY);
}

/* A forked process has its parent's code at the same addresses. */
static __always_inline void same_space(uint32_t parent, uint32_t child)
{
	uint32_t space;

	child = pidns_id(child);
	if (space_of(parent, &space))
		bpf_map_update_elem(&unwind_processes, &child, &space, BPF_ANY);
}

/* Starts to trace a child that was just forked. */
static __always_inline bool follow_child(uint32_t parent, uint32_t child)
{
	if (follow_paused || !follow(child))
		return false;
	same_space(parent, child);
	return true;
}

static __always_inline void leave_space(uint32_t tgid)
{
	tgid = pidns_id(tgid);
	bpf_map_delete_elem(&unwind_processes, &tgid);
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct raw_record rec = {.site = SITE_FORK};
	uint32_t from = MEMBER(parent, tgid), tgid, tid;
	char comm[COMM_SIZE];
	uint64_t began;

	learn_id(child);
	if (!is_followed(from))
		return 0;
	tgid = MEMBER(child, tgid);
	tid = MEMBER(child, pid);
	if (tgid != from) {
		if (!follow_children)
			return 0;
		rec.status = follow_child(from, tgid) ? FORK_FOLLOWED : FORK_ALONE;
	} else if (!is_traced(from)) {
		return 0;
	}
	began = begin_hit();
	if (!began)
		return 0;
	rec.time = bpf_ktime_get_ns();
	read_comm(comm, child);
	send_comm(tgid, tid, comm);
	rec.tid = MEMBER(parent, pid);
	rec.goid = from;
	rec.g = tid;
	rec.arg = tgid;
	rec.stack = stack_of_current(parent);
	send_timed(&rec);
	end_hit(began, TIMED_CALLS, TIMED_CALLS_NS);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *task)
{
	struct raw_record rec = {.site = SITE_THREAD_EXIT};
	uint32_t tgid = MEMBER(task, tgid);

	if (!is_traced(tgid) || !begin_hit())
		return 0;
	rec.tid = MEMBER(task, pid);
	rec.goid = tgid;
	/* do_exit decrements the counter before this tracepoint. */
	if (several && MEMBER(task, signal, live.counter) == 0)
		rec.status = EXIT_OF_LAST;
	send_thread(&rec);
	return 0;
}

/*
 * Counts what a thread has moved and, with the last one, what its process has used: each of the others has
 * been added to that (kernel/exit.c, __exit_signal). The bytes of a process are not read: those of its
 * children are among them once it has waited for these (wait_task_zombie).
 */
static __always_inline void count_ended(const struct task_struct *task, bool is_last)
{
	if (is_last)
		count(ENDED_CPU_NS, MEMBER(task, signal, sum_sched_runtime));
	if (bpf_core_field_exists(struct task_struct, ioac.rchar))
		count(ENDED_BYTES, MEMBER(task, ioac.rchar) + MEMBER(task, ioac.wchar));
}

/* Forgets a thread that is gone. A process's first thread is freed last, after its parent has reaped it. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(sched_process_free, struct task_struct *task)
{
	uint32_t tid = MEMBER(task, pid), tgid = MEMBER(task, tgid);

	if (is_followed(tgid)) {
		forget_call(tid);
		if (several)
			count_ended(task, tid == tgid);
		if (several && tid == tgid) {
			bpf_map_delete_elem(&traced, &tid);
			leave_space(tid);
		}
	}
	forget_id(tid);
	return 0;
}

/* If a single process is traced, its trace ends at an exec; that of a spawned process begins there. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task, int old_pid)
{
	struct raw_record rec = {.site = SITE_EXEC};
	uint32_t tgid = MEMBER(task, tgid), tid = MEMBER(task, pid);
	char comm[COMM_SIZE];

	if (several && spawned && tgid == spawned)
		follow(tgid);
	else if (!several && spawned && tgid == spawned && traced_tgid == NO_PROCESS)
		traced_tgid = tgid;
	else if (!is_followed(tgid))
		return 0;
	else if (!several)
		traced_tgid = NO_PROCESS;
	if (several)
		leave_space(tgid);
	forget_call(tid);
	if (!begin_hit())
		return 0;
	read_comm(comm, task);
	send_comm(tgid, tid, comm);
	rec.tid = tid;
	rec.goid = tgid;
	rec.g = old_pid;
	send_thread(&rec);
	wake_consumer();
	return 0;
}

SEC("?tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *comm)
{
	uint32_t tgid = MEMBER(task, tgid);
	char name[COMM_SIZE] = {0};

	if (!is_traced(tgid) || !begin_hit())
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	send_comm(tgid, MEMBER(task, pid), name);
	return 0;
}

#endif
