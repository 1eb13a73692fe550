/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The way out. A ring has one lock, which many CPUs would wait for: on a small
 * machine all share one ring, whose order is the order of the log; on a large
 * one each group of CPUs has its own, and user space merges them by time
 * (src/capture/merge.h says why that keeps causes before effects).
 */
#ifndef GOTRACE_RING_BPF_H
#define GOTRACE_RING_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/record.h"

/* Constants to the verifier: with one ring nothing of the other way is left in the programs. */
const volatile uint32_t ring_count; /* 0: all CPUs use `ring`; else rings in `rings` */
const volatile uint32_t ring_shift; /* 1 << ring_shift CPUs share one of `rings` */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* capture sets its own size */
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* capture sets the number, and puts the rings in */
	__type(key, uint32_t);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_RINGBUF);
			__uint(max_entries, 4096);
		});
} rings SEC(".maps");

/*
 * Since Linux 6.13 (x86; arm64 later) a program of the types kprobe, tracepoint and perf_event that needs 64
 * bytes of stack or more has them in memory of its CPU instead of its thread (kernel/bpf/verifier.c,
 * bpf_enable_priv_stack): such programs do not run twice at once on a CPU. Those of uprobes do, for they can
 * be preempted (bpf_prog_run_array_uprobe disables migration only), and where the kernel preempts itself
 * (preempt=lazy or full) one thread's hit overwrites the record of another's. A program with a tail call
 * keeps its stack, and the verifier looks for one before it leaves out what is never run: this costs nothing.
 */
const volatile uint32_t never;

static __always_inline void keep_own_stack(void)
{
	if (never)
		__asm__ volatile("call 12" ::: "r0", "r1", "r2", "r3", "r4", "r5"); /* BPF_FUNC_tail_call */
}

/* Into the ring of this CPU. 0, or not: there was no room. Never wakes the consumer: a wake-up costs more
 * than everything else here (it drains by the clock). */
static __always_inline long put(void *data, uint64_t size)
{
	uint32_t which;
	void *own;

	keep_own_stack();
	if (!ring_count)
		return bpf_ringbuf_output(&ring, data, size, BPF_RB_NO_WAKEUP);
	which = bpf_get_smp_processor_id() >> ring_shift;
	if (which >= ring_count)
		which = ring_count - 1; /* a CPU that was not there when the rings were counted */
	own = bpf_map_lookup_elem(&rings, &which);
	return own ? bpf_ringbuf_output(own, data, size, BPF_RB_NO_WAKEUP) : -1;
}

#endif
