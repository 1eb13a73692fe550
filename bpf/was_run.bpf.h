/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whether the first of two programs at a tracepoint was skipped (bpf/recursion_backup.bpf.h says why it may
 * be). */
#ifndef GOTRACE_WAS_RUN_BPF_H
#define GOTRACE_WAS_RUN_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/record.h"

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
	__type(value, uint32_t); /* the thread for which the first program last ran; 0: already recorded */
} was_run SEC(".maps");

/* Called at the end of a first program, for any thread. */
static __always_inline void note_run(uint32_t side)
{
	volatile uint32_t *tid = preempted_calls ? bpf_map_lookup_elem(&was_run, &side) : NULL;

	if (tid)
		*tid = (uint32_t)bpf_get_current_pid_tgid();
}

/* Called in a second program. Returns true if the first one was not run. */
static __always_inline bool first_program_missed(uint32_t side)
{
	volatile uint32_t *tid = bpf_map_lookup_elem(&was_run, &side);

	if (!tid)
		return false;
	if (*tid == (uint32_t)bpf_get_current_pid_tgid()) {
		*tid = 0;
		return false;
	}
	return true;
}

#endif
