/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Second programs of the tracepoints of system calls. A tracepoint's program is left out, and that counted,
 * where another thread's run of it on the same CPU is not over (__bpf_trace_run in kernel/trace/bpf_trace.c):
 * where programs can be preempted, by all calls of others in a time slice. So the first program leaves the
 * thread that it was run for with the CPU; the second one comes right behind, and where it does not find its
 * own thread it does the work. A hit is lost when both are left out; it is told twice when the thread is
 * preempted, or changes its CPU, between the two. Other processes' threads count too, for the kernel counts
 * theirs: what is lost is what the first ones were left out of less what the second ones made up for.
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
	__type(value, uint32_t); /* the thread that the first program was run for last; 0: told already */
} was_run SEC(".maps");

/* At the end of a first program, whoever it was run for. */
static __always_inline void note_run(uint32_t side)
{
	volatile uint32_t *tid = preempted_calls ? bpf_map_lookup_elem(&was_run, &side) : NULL;

	if (tid)
		*tid = current_tid();
}

/* In a second program: whether the first one was left out. */
static __always_inline bool was_left_out(uint32_t side)
{
	volatile uint32_t *tid = bpf_map_lookup_elem(&was_run, &side);

	if (!tid)
		return false;
	if (*tid == current_tid()) {
		*tid = 0;
		return false;
	}
	count(HITS_AGAIN, 1);
	return true;
}

#endif
