/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ring buffers. A ring has one lock, which many CPUs would contend for. On a small machine all CPUs share
 * one ring, whose order is the order of the log. On a large one each group of CPUs has its own, and user
 * space merges them by time (src/capture/merge.h says why that keeps causes before effects).
 */
#ifndef GOTRACE_RING_BPF_H
#define GOTRACE_RING_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/lease.bpf.h"
#include "bpf/record.h"

/* Constants to the verifier: a program contains the code of only one variant. */
const volatile uint32_t ring_count; /* 0: all CPUs use `ring`; else the number of `rings` */
const volatile uint32_t ring_shift; /* 1 << ring_shift CPUs share one of `rings` */
/* The consumer is woken when a ring holds this many bytes. */
const volatile uint64_t ring_wake_at = 1ull << 40;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* placeholder; capture sets the size */
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* capture sets the number, and inserts the rings */
	__type(key, uint32_t);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_RINGBUF);
			__uint(max_entries, 4096);
		});
} rings SEC(".maps");

/*
 * Since Linux 6.13 (x86; arm64 later) programs of the types kprobe, tracepoint and perf_event that need 64
 * bytes of stack or more have their stack in per-CPU memory (kernel/bpf/verifier.c, bpf_enable_priv_stack),
 * on the assumption that such a program never runs twice at once on a CPU. Uprobe programs can, because they
 * can be preempted (bpf_prog_run_array_uprobe disables migration only): on a preemptible kernel (preempt=lazy
 * or full), one thread's hit would overwrite another's record. A program with a tail call keeps its frame on
 * the thread's stack. The verifier looks for the call before it eliminates dead code, so this costs nothing.
 */
const volatile uint32_t never;

static __always_inline void keep_own_stack(void)
{
	if (never)
		__asm__ volatile("call 12" ::: "r0", "r1", "r2", "r3", "r4", "r5"); /* BPF_FUNC_tail_call */
}

/* Several CPUs may pass ring_wake_at at the same time, so all records within this many bytes of it wake. */
#define RING_WAKE_SPAN 4096

/* fill: of the ring, in bytes. */
static __always_inline uint64_t wakeup_flag(uint64_t fill)
{
	return fill - ring_wake_at < RING_WAKE_SPAN ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* Returns one of `rings`. */
static __always_inline void *own_ring(void)
{
	uint32_t which = bpf_get_smp_processor_id() >> ring_shift;

	if (which >= ring_count)
		which = ring_count - 1; /* a CPU that was added after the rings were counted */
	return bpf_map_lookup_elem(&rings, &which);
}

/*
 * Writes to this CPU's ring. Returns nonzero if it is full. The consumer drains at intervals, and is woken
 * only where a ring fills meanwhile: a wakeup costs more than everything else here.
 */
static __always_inline long output(void *data, uint64_t size)
{
	void *own;

	keep_own_stack();
	if (!ring_count)
		return bpf_ringbuf_output(&ring, data, size,
					  wakeup_flag(bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA)));
	own = own_ring();
	return own ? bpf_ringbuf_output(own, data, size,
					wakeup_flag(bpf_ringbuf_query(own, BPF_RB_AVAIL_DATA)))
		   : -1;
}

/* Wakes the consumer, for what it should see at once. */
static __always_inline void wake_consumer(void)
{
	void *own = ring_count ? own_ring() : NULL, *nothing = NULL;

	if (!ring_count)
		nothing = bpf_ringbuf_reserve(&ring, 8, 0);
	else if (own)
		nothing = bpf_ringbuf_reserve(own, 8, 0);
	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

/*
 * Writes to this CPU's ring if the lease is open. Returns nonzero if recording has ended because a ring is
 * full, possibly only now.
 */
static __always_inline long put(void *data, uint64_t size)
{
	if (!lease.until)
		return -1;
	if (!output(data, size))
		return 0;
	count(RING_FULL, 1);
	close_lease();
	return -1;
}

#endif
