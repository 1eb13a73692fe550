/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Interrupts that take CPU time from a Go program's threads (--os=all): device interrupts, and soft
 * interrupts that run on the stack of the interrupted thread. The kernel counts their time as the thread's
 * own, unless it was built with CONFIG_IRQ_TIME_ACCOUNTING. The timer interrupt itself has no such
 * tracepoint.
 *
 * Most interrupts are short, so their durations are added up and reported as one interval.
 */
#ifndef GOTRACE_INTERRUPTS_BPF_H
#define GOTRACE_INTERRUPTS_BPF_H

#include "bpf/off_cpu.bpf.h"

#define INTERRUPTS_NS     100000u    /* ns; this much time is reported as an interval */
#define LONGEST_INTERRUPT 100000000u /* ns; anything longer is an end whose begin was missed */

struct interrupts {
	uint32_t pid; /* the interrupted thread */
	uint32_t reserved;
	uint64_t sum;        /* duration of its interrupts that are not reported yet, ns */
	uint64_t hard, soft; /* when the interrupt being served began, ns; 0 = none */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct interrupts);
} interrupts SEC(".maps");

static __always_inline struct interrupts *own_interrupts(void)
{
	uint32_t zero = 0;

	return current_tgid() == target_tgid ? bpf_map_lookup_elem(&interrupts, &zero) : NULL;
}

static __always_inline void report_interrupts(struct interrupts *now, uint64_t time)
{
	struct raw_record rec = {.site = SITE_OFF_CPU, .status = LEFT_INTERRUPTED};

	rec.time = time;
	rec.arg = time - now->sum;
	now->sum = 0;
	if (!begin_hit())
		return;
	rec.tid = tid_of(current_task());
	put(&rec, sizeof(rec));
}

static __always_inline void add_interrupt(struct interrupts *now, uint64_t since)
{
	uint64_t time = bpf_ktime_get_ns();
	uint32_t pid = current_tid();

	if (time - since > LONGEST_INTERRUPT)
		return;
	if (now->pid != pid)
		now->sum = 0;
	now->pid = pid;
	now->sum += time - since;
	if (now->sum >= INTERRUPTS_NS)
		report_interrupts(now, time);
}

/* Device interrupts may nest in soft interrupts, which are counted as a whole. */
SEC("?tp_btf/irq_handler_entry")
int hard_interrupt(void *ctx)
{
	struct interrupts *now = own_interrupts();

	(void)ctx;
	if (now && !now->soft)
		now->hard = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/irq_handler_exit")
int hard_interrupt_end(void *ctx)
{
	struct interrupts *now = own_interrupts();

	(void)ctx;
	if (now && now->hard)
		add_interrupt(now, now->hard);
	if (now)
		now->hard = 0;
	return 0;
}

SEC("?tp_btf/softirq_entry")
int soft_interrupt(void *ctx)
{
	struct interrupts *now = own_interrupts();

	(void)ctx;
	if (now)
		now->soft = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/softirq_exit")
int soft_interrupt_end(void *ctx)
{
	struct interrupts *now = own_interrupts();

	(void)ctx;
	if (now && now->soft)
		add_interrupt(now, now->soft);
	if (now)
		now->soft = 0;
	return 0;
}

#endif
