/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads of a Go program that lose their CPU involuntarily: preempted, throttled, in a page fault, or
 * stopped. The runtime considers their goroutines running. A thread that sleeps in a system call has given up
 * its CPU voluntarily; most switches are of this kind, and they are not recorded.
 *
 * The state stored when a thread leaves its CPU is sent as one record when the thread gets a CPU again.
 */
#ifndef GOTRACE_OFF_CPU_BPF_H
#define GOTRACE_OFF_CPU_BPF_H

#include "bpf/common.bpf.h"
#include "bpf/left.bpf.h"

/* Set by capture before loading: also record which CPU a thread runs on. */
const volatile bool watch_cpus;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OFF_CPU_SLOTS);
	__uint(map_flags, MAP_MMAPABLE);
	__type(key, uint32_t);
	__type(value, struct off_cpu_slot);
} off_cpu_slots SEC(".maps");

/* Threads whose pids are equal modulo OFF_CPU_SLOTS share a slot: the later one overwrites it. */
static __always_inline struct off_cpu_slot *slot_of(uint32_t pid)
{
	uint32_t key = pid % OFF_CPU_SLOTS;

	return bpf_map_lookup_elem(&off_cpu_slots, &key);
}

/* The thread's id in the process's own pid namespace. */
static __always_inline uint32_t tid_of(struct task_struct *task)
{
	const struct pid *pid = inner_tids ? thread_pid(task) : NULL;

	return pid ? id_at(pid, level_of(pid)) : (uint32_t)MEMBER(task, pid);
}

/* How long the thread's run queue has been throttled, ns. An interval counts only once it is over. */
static __always_inline uint64_t throttled_so_far(struct cfs_rq *queue)
{
	struct cfs_rq___old *old = (void *)queue;

	if (bpf_core_field_exists(queue->throttled_clock_pelt_time))
		return MEMBER(queue, throttled_clock_pelt_time);
	if (bpf_core_field_exists(old->throttled_clock_task_time))
		return BPF_CORE_READ(old, throttled_clock_task_time);
	return 0;
}

/* True if the queue's cgroup or a parent of it has used up its quota. */
static __always_inline bool is_throttled(struct cfs_rq *queue)
{
	return bpf_core_field_exists(queue->throttle_count) && MEMBER(queue, throttle_count) > 0;
}

/* 1 + number of the system call that the current thread is in; 0 = none; or OFF_CPU_CALL_UNKNOWN. */
static __always_inline uint64_t call_of(struct task_struct *task)
{
	const struct pt_regs *regs;

	if (probed_tasks)
		return OFF_CPU_CALL_UNKNOWN;
	regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	return CALL_OF(regs) >= 0 ? (uint64_t)CALL_OF(regs) + 1 : 0;
}

static __always_inline void send_death(struct task_struct *task)
{
	struct raw_record rec = {.site = SITE_OFF_CPU, .status = LEFT_DEAD};

	if (!begin_hit())
		return;
	rec.tid = tid_of(task);
	rec.time = bpf_ktime_get_ns();
	rec.arg = MEMBER(task, se.sum_exec_runtime);
	if (bpf_core_field_exists(task->sched_info.run_delay))
		rec.arg2 = MEMBER(task, sched_info.run_delay);
	put(&rec, sizeof(rec));
}

/*
 * Notes that the thread runs or last ran on this CPU (counted from 1; 0 = it has ended). Returns false if
 * that is known already.
 */
static __always_inline bool note_cpu(struct task_struct *task, uint32_t cpu)
{
	uint32_t pid = MEMBER(task, pid);
	struct off_cpu_slot *slot = slot_of(pid);

	if (!slot || (slot->cpu_pid == pid && slot->cpu == cpu))
		return false;
	slot->cpu_pid = pid;
	slot->cpu_tid = tid_of(task);
	slot->cpu = cpu;
	return true;
}

static __always_inline void send_cpu(struct task_struct *task, uint32_t cpu)
{
	struct raw_record rec = {.site = SITE_CPU, .arg = cpu};

	if (!note_cpu(task, cpu) || !begin_hit())
		return;
	rec.tid = tid_of(task);
	rec.time = bpf_ktime_get_ns();
	put(&rec, sizeof(rec));
}

static __always_inline void note_taker(struct off_cpu_slot *slot, struct task_struct *taker)
{
	uint32_t tgid = MEMBER(taker, tgid);

	slot->by = tgid == target_tgid ? OFF_CPU_OWN : tgid;
	read_comm((char *)slot->comm, taker);
}

static __always_inline void note_queue(struct off_cpu_slot *slot, struct task_struct *task)
{
	struct cfs_rq *queue = MEMBER(task, se.cfs_rq);

	slot->queue = (uint64_t)queue;
	slot->throttled = throttled_so_far(queue);
	slot->is_throttled = is_throttled(queue);
}

static __always_inline void leave_cpu(struct task_struct *task, struct task_struct *taker, bool preempted,
				      uint64_t state)
{
	enum left left = preempted || !state_of(task) ? LEFT_RUNNABLE : left_in(state);
	uint32_t pid = MEMBER(task, pid);
	struct off_cpu_slot *slot;
	uint64_t call = 0, began;

	if (left == LEFT_DEAD) {
		if (watch_cpus)
			send_cpu(task, 0);
		send_death(task);
		return;
	}
	if (left == LEFT_ASLEEP || left == LEFT_DISK)
		call = call_of(task);
	if (left == LEFT_ASLEEP && call)
		return;
	began = begin_hit();
	slot = slot_of(pid);
	if (!began || !slot)
		return;
	slot->pid = pid;
	slot->tid = tid_of(task);
	slot->left = left;
	slot->since = bpf_ktime_get_ns();
	slot->by = call;
	if (left == LEFT_RUNNABLE) {
		note_queue(slot, task);
		note_taker(slot, taker);
	}
	end_hit(began, TIMED_CALLS, TIMED_CALLS_NS);
}

/*
 * Runs for each task when user space reads the iterator: notes threads that have no CPU when tracing begins.
 * Which thread took the CPU is not known. If a thread gets a CPU meanwhile, its slot is emptied again. User
 * space reads from the slots which CPUs the threads are on.
 */
SEC("?iter/task")
int list_waiting(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct off_cpu_slot *slot;
	uint32_t pid;

	if (!task || (uint32_t)MEMBER(task, tgid) != target_tgid)
		return 0;
	if (watch_cpus)
		note_cpu(task, 1 + cpu_of(task));
	if (state_of(task) || MEMBER(task, on_cpu))
		return 0;
	pid = MEMBER(task, pid);
	slot = slot_of(pid);
	if (!slot || slot->pid)
		return 0;
	slot->tid = tid_of(task);
	slot->left = LEFT_RUNNABLE;
	slot->since = bpf_ktime_get_ns();
	note_queue(slot, task);
	slot->pid = pid;
	if (MEMBER(task, on_cpu))
		slot->pid = 0;
	return 0;
}

/* How much of the time since the thread lost its CPU is due to a quota, ns. */
static __always_inline uint64_t throttled_since(const struct off_cpu_slot *slot, struct task_struct *task,
						uint64_t now)
{
	struct cfs_rq *queue = MEMBER(task, se.cfs_rq);
	uint64_t all = now - slot->since, part;

	/* The clocks belong to the queue, and the thread was moved to another one. */
	if ((uint64_t)queue != slot->queue)
		return slot->is_throttled ? all : 0;
	part = throttled_so_far(queue) - slot->throttled;
	return part < all ? part : all;
}

static __always_inline void note_switch_in(struct task_struct *task)
{
	struct raw_record rec = {.site = SITE_OFF_CPU};
	uint32_t pid = MEMBER(task, pid);
	struct off_cpu_slot *slot = slot_of(pid);
	uint64_t began;

	if (!slot || slot->pid != pid)
		return;
	slot->pid = 0;
	began = begin_hit();
	if (!began)
		return;
	rec.time = bpf_ktime_get_ns();
	rec.tid = slot->tid;
	rec.status = slot->left;
	rec.arg = slot->since;
	rec.g = slot->by;
	if (slot->left == LEFT_RUNNABLE) {
		rec.arg2 = throttled_since(slot, task, rec.time);
		rec.goid = slot->comm[0];
		rec.p = slot->comm[1];
	}
	put(&rec, sizeof(rec));
	end_hit(began, TIMED_CALLS, TIMED_CALLS_NS);
}

static __always_inline void switched(bool preempted, struct task_struct *prev, struct task_struct *next,
				     uint64_t state)
{
	if ((uint32_t)MEMBER(prev, tgid) == target_tgid)
		leave_cpu(prev, next, preempted, state);
	if ((uint32_t)MEMBER(next, tgid) == target_tgid) {
		if (watch_cpus)
			send_cpu(next, 1 + bpf_get_smp_processor_id());
		note_switch_in(next);
	}
}

/* Exactly one of these three is loaded, as in bpf/sched.bpf.h. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(off_cpu, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	switched(preempt, prev, next, prev_state);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(off_cpu_516, bool preempt, unsigned int prev_state, struct task_struct *prev,
	     struct task_struct *next)
{
	switched(preempt, prev, next, prev_state);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(off_cpu_old, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	switched(preempt, prev, next, state_of(prev));
	return 0;
}

#endif
