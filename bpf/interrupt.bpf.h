/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Determines whether a wakeup comes from an interrupt, and from which. The kernel's per-CPU state at the time
 * of the wakeup shows that, so nothing has to be recorded when interrupts begin.
 *
 * Programs can get the addresses of per-CPU variables only if the kernel was built with CONFIG_KALLSYMS_ALL.
 * Their offsets within the per-CPU area are always in BTF. The area's address follows from the address of the
 * CPU's run queue, which lies in it; the current task has a pointer to the run queue.
 */
#ifndef GOTRACE_INTERRUPT_BPF_H
#define GOTRACE_INTERRUPT_BPF_H

#include "bpf/base.bpf.h"
#include "bpf/cpu_places.h"
#include "bpf/left.bpf.h"

/* include/linux/preempt.h. Disabling soft interrupts adds twice SOFTIRQ_SERVED. */
#define SOFTIRQ_SERVED 0x00000100u
#define HARDIRQ_MASK   0x000f0000u
#define NMI_MASK       0x00f00000u

const volatile struct cpu_places cpu_places; /* set by capture */

/* The address of this CPU's area, 0 if it cannot be determined. */
static __always_inline uint64_t cpu_block(const struct task_struct *current)
{
	if (!cpu_places.run_queue || !bpf_core_field_exists(struct sched_entity, cfs_rq) ||
	    !bpf_core_field_exists(struct cfs_rq, rq))
		return 0;
	return (uint64_t)MEMBER(current, se.cfs_rq, rq) - cpu_places.run_queue;
}

/* If the count cannot be read, returns HARDIRQ_MASK: an interrupt of unknown source. */
static __always_inline uint32_t preempt_count(const struct task_struct *current, uint64_t block)
{
#if defined(__TARGET_ARCH_arm64)
	(void)block;
	return (uint32_t)MEMBER(current, thread_info.preempt_count); /* arch/arm64/include/asm/preempt.h */
#else
	/* Not part of the read below: CO-RE would look for cpu_places in the kernel. */
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

/* Set while hrtimer_interrupt runs expired timers (kernel/time/hrtimer.c). */
static __always_inline bool in_hard_timer(uint64_t block)
{
	const struct hrtimer_cpu_base *timers = hrtimers(block);

	return timers && BPF_CORE_READ_BITFIELD_PROBED(timers, in_hrtirq);
}

/* Set while a timer wheel runs its timers (kernel/time/timer.c): this CPU's, or those of any CPU. */
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

/* What wakes a thread that waits for I/O is the disk's interrupt, unless it is a timer's or the network's. */
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
	return waits_for_io(woken) ? INTERRUPT_DISK : INTERRUPT_OTHER;
}

#endif
