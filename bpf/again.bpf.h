/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Second programs of the tracepoints of system calls. A tracepoint's program is left out, and that counted,
 * where another thread's run of it on the same CPU is not over (__bpf_trace_run in kernel/trace/bpf_trace.c):
 * where programs can be preempted, by another thread's time slice. Each CPU keeps whether its first program
 * is in hand; the second one comes behind, sees that, and does the same for who was left out. What is left
 * out then is what finds both in hand, and what comes in the few instructions around the mark.
 */
#ifndef GOTRACE_AGAIN_BPF_H
#define GOTRACE_AGAIN_BPF_H

#include "bpf/base.bpf.h"

const volatile bool preempted_calls; /* set by capture (src/capture/features.h) */

enum call_side {
	CALL_ENTRY,
	CALL_EXIT,
	CALL_SIDES,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CALL_SIDES);
	__type(key, uint32_t);
	__type(value, uint32_t); /* 1: the first program is in hand */
} in_hand SEC(".maps");

static __always_inline void take_in_hand(uint32_t side, bool taken)
{
	volatile uint32_t *mark = preempted_calls ? bpf_map_lookup_elem(&in_hand, &side) : NULL;

	if (mark)
		*mark = taken;
}

/* In a second program: whether the first one was left out. */
static __always_inline bool was_left_out(uint32_t side)
{
	const volatile uint32_t *mark = bpf_map_lookup_elem(&in_hand, &side);

	if (!mark || !*mark)
		return false;
	count(HITS_AGAIN, 1);
	return true;
}

#endif
