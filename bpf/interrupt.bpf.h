/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether an interrupt wakes, and which: what the kernel keeps for each CPU
 * tells at that moment, so nothing has to be noted when interrupts begin.
 */
#ifndef GOTRACE_INTERRUPT_BPF_H
#define GOTRACE_INTERRUPT_BPF_H

#include "bpf/base.bpf.h"

/* include/linux/preempt.h: what keeps a CPU from switching. Soft interrupts count by two where they are only
 * held off. */
#define SOFTIRQ_SERVED 0x00000100u
#define HARDIRQ_MASK   0x000f0000u
#define NMI_MASK       0x00f00000u

extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;
extern const struct softnet_data softnet_data __ksym __weak;
extern const struct hrtimer_cpu_base hrtimer_bases __ksym __weak;

static __always_inline uint32_t preempt_count(void)
{
	if (&__preempt_count)
		return *(const uint32_t *)bpf_this_cpu_ptr(&__preempt_count);
	if (&pcpu_hot)
		return ((const struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
	return 0;
}

/* Set while hrtimer_interrupt runs (kernel/time/hrtimer.c), which runs whatever timers are due. */
static __always_inline bool in_hard_timer(void)
{
	const struct hrtimer_cpu_base *base;

	if (!&hrtimer_bases || !bpf_core_field_exists(struct hrtimer_cpu_base, in_hrtirq))
		return false;
	base = bpf_this_cpu_ptr(&hrtimer_bases);
	return BPF_CORE_READ_BITFIELD(base, in_hrtirq);
}

/* net/core/dev.c, net_rx_action: from Linux 6.4 on. */
static __always_inline bool in_network(void)
{
	const struct softnet_data *net;

	if (!&softnet_data || !bpf_core_field_exists(struct softnet_data, in_net_rx_action))
		return false;
	net = bpf_this_cpu_ptr(&softnet_data);
	return net->in_net_rx_action;
}

/* Who sleeps by io_schedule waits for a disk: what wakes it, if it is no timer, has got that. */
static __always_inline enum interrupt interrupt_that_wakes(uint32_t count, const struct task_struct *woken)
{
	bool hard = count & (HARDIRQ_MASK | NMI_MASK);

	if (hard && in_hard_timer())
		return INTERRUPT_TIMER;
	if (!hard && count & SOFTIRQ_SERVED && in_network())
		return INTERRUPT_NET;
	return BPF_CORE_READ_BITFIELD(woken, in_iowait) ? INTERRUPT_DISK : INTERRUPT_OTHER;
}

#endif
