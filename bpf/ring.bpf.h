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

/* Into the ring of this CPU. 0, or not: there was no room. Never wakes the consumer: a wake-up costs more
 * than everything else here (it drains by the clock). */
static __always_inline long put(void *data, uint64_t size)
{
	uint32_t which;
	void *own;

	if (!ring_count)
		return bpf_ringbuf_output(&ring, data, size, BPF_RB_NO_WAKEUP);
	which = bpf_get_smp_processor_id() >> ring_shift;
	if (which >= ring_count)
		which = ring_count - 1; /* a CPU that was not there when the rings were counted */
	own = bpf_map_lookup_elem(&rings, &which);
	return own ? bpf_ringbuf_output(own, data, size, BPF_RB_NO_WAKEUP) : -1;
}

#endif
