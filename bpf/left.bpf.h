/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The CPU of a thread, and why the thread leaves it. */
#ifndef GOTRACE_LEFT_BPF_H
#define GOTRACE_LEFT_BPF_H

#include "bpf/record.h"
#include "bpf/task.bpf.h"

/* Bits of task_struct.__state (include/linux/sched.h). */
#define TASK_INTERRUPTIBLE   0x1u
#define TASK_UNINTERRUPTIBLE 0x2u
#define TASK_STOPPED         0x4u
#define TASK_TRACED          0x8u
#define TASK_PARKED          0x40u
#define TASK_DEAD            0x80u
#define TASK_WAKING          0x200u
#define TASK_NEW             0x800u
#define TASK_FROZEN          0x8000u

static __always_inline uint64_t state_of(const struct task_struct *task)
{
	const struct task_struct___old *old = (const void *)task;

	if (bpf_core_field_exists(task->__state))
		return MEMBER(task, __state);
	return BPF_CORE_READ(old, state);
}

/* The CPU that the thread runs on or last ran on. */
static __always_inline uint32_t cpu_of(const struct task_struct *task)
{
	const struct task_struct___old *old = (const void *)task;

	if (bpf_core_field_exists(old->cpu))
		return BPF_CORE_READ(old, cpu);
	return MEMBER(task, thread_info.cpu);
}

static __always_inline enum left left_in(uint64_t state)
{
	if (!state || state & (TASK_WAKING | TASK_NEW))
		return LEFT_RUNNABLE;
	if (state & TASK_DEAD)
		return LEFT_DEAD;
	if (state & (TASK_STOPPED | TASK_TRACED | TASK_PARKED | TASK_FROZEN))
		return LEFT_STOPPED;
	return state & TASK_INTERRUPTIBLE ? LEFT_ASLEEP : LEFT_DISK;
}

/* True for a thread in io_schedule, which waits for a disk, or for another thread that does. */
static __always_inline bool waits_for_io(const struct task_struct *task)
{
	return probed_tasks ? BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait)
			    : BPF_CORE_READ_BITFIELD(task, in_iowait);
}

#endif
