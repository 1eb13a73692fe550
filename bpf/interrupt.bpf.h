/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether an interrupt wakes, and which: what the kernel keeps for each CPU
 * tells at that moment, so nothing has to be noted when interrupts begin.
 *
 * The kernel gives programs the addresses of such variables only where it was
 * built with CONFIG_KALLSYMS_ALL. Its BTF has their places within a CPU's
 * block in any case, and where that begins the CPU's run queue tells, which lies
 * in it and which the current task has a pointer to.
 */
#ifndef GOTRACE_INTERRUPT_BPF_H
#define GOTRACE_INTERRUPT_BPF_H

#include "bpf/base.bpf.h"
#include "bpf/cpu_places.h"

/* include/linux/preempt.h: what keeps a CPU from switching. Soft interrupts count by two where they are only
 * held off. */
#define SOFTIRQ_SERVED 0x00000100u
#define HARDIRQ_MASK   0x000f0000u
#define NMI_MASK       0x00f00000u

const volatile struct cpu_places cpu_places; /* set by capture */

/* Where the block of this CPU is; 0 if that cannot be found out. */
static __always_inline uint64_t cpu_block(const struct task_struct *current)
{
	if (!cpu_places.run_queue || !bpf_core_field_exists(struct sched_entity, cfs_rq) ||
	    !bpf_core_field_exists(struct cfs_rq, rq))
		return 0;
	return (uint64_t)MEMBER(current, se.cfs_rq, rq) - cpu_places.run_queue;
}

/* Where nobody knows, nobody is named. */
static __always_inline uint32_t preempt_count(const struct task_struct *current, uint64_t block)
{
#if defined(__TARGET_ARCH_arm64)
	(void)block;
	return (uint32_t)MEMBER(current, thread_info.preempt_count); /* arch/arm64/include/asm/preempt.h */
#else
	/* Apart from the read: CO-RE would look for cpu_places in the kernel. */
	const struct pcpu_hot *hot = (const void *)(block + cpu_places.hot);
	uint32_t count = HARDIRQ_MASK;

	(void)current;
	if (block && cpu_places.preempt_count)
		bpf_probe_read_kernel(&count, sizeof(count), (void *)(block + cpu_places.preempt_count));
	else if (block && cpu_places.hot)
		bpf_core_read(&count, sizeof(count), &hot->preempt_count);
	return count;
#endif
}

static __always_inline const struct hrtimer_cpu_base *hrtimers(uint64_t block)
{
	return block && cpu_places.hrtimers && bpf_core_field_exists(struct hrtimer_cpu_base, in_hrtirq)
		       ? (const void *)(block + cpu_places.hrtimers)
		       : NULL;
}

/* Set while hrtimer_interrupt runs whatever is due (kernel/time/hrtimer.c). */
static __always_inline bool in_hard_timer(uint64_t block)
{
	const struct hrtimer_cpu_base *timers = hrtimers(block);

	return timers && BPF_CORE_READ_BITFIELD_PROBED(timers, in_hrtirq);
}

/* Timers of the wheel (kernel/time/timer.c): for this CPU, or for any. */
static __always_inline bool in_wheel(uint64_t block, uint32_t which)
{
	const struct timer_base *wheel;

	if (!block || !cpu_places.wheels)
		return false;
	wheel = (const void *)(block + cpu_places.wheels + which * bpf_core_type_size(struct timer_base));
	return BPF_CORE_READ(wheel, running_timer);
}

static __always_inline bool in_soft_timer(uint64_t block)
{
	const struct hrtimer_cpu_base *timers = hrtimers(block);

	return in_wheel(block, 0) || in_wheel(block, 1) ||
	       (timers && BPF_CORE_READ_BITFIELD_PROBED(timers, softirq_activated));
}

/* Set while net_rx_action runs (net/core/dev.c), from Linux 6.4 on. */
static __always_inline bool in_network(uint64_t block)
{
	const struct softnet_data *net = (const void *)(block + cpu_places.network);

	return block && cpu_places.network && bpf_core_field_exists(struct softnet_data, in_net_rx_action) &&
	       BPF_CORE_READ(net, in_net_rx_action);
}

/* Who sleeps by io_schedule waits for a disk: what wakes it, if it is no timer, has got that. */
static __always_inline enum interrupt interrupt_that_wakes(uint64_t block, uint32_t count,
							   const struct task_struct *woken)
{
	if (count & (HARDIRQ_MASK | NMI_MASK)) {
		if (in_hard_timer(block))
			return INTERRUPT_TIMER;
	} else if (count & SOFTIRQ_SERVED) {
		if (in_network(block))
			return INTERRUPT_NET;
		if (in_soft_timer(block))
			return INTERRUPT_TIMER;
	}
	return (probed_tasks ? BPF_CORE_READ_BITFIELD_PROBED(woken, in_iowait)
			     : BPF_CORE_READ_BITFIELD(woken, in_iowait))
		       ? INTERRUPT_DISK
		       : INTERRUPT_OTHER;
}

#endif
