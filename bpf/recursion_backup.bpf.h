/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Backup programs for the system call tracepoints. The kernel skips, and counts, a tracepoint's program if
 * another thread's run of it has not finished on the same CPU (__bpf_trace_run in kernel/trace/bpf_trace.c).
 * If programs can be preempted, this affects all calls of other threads for a time slice. So the first
 * program stores its thread in a per-CPU variable. The second program runs right after it, and does the work
 * if it does not find its own thread there. A hit is lost if both are skipped, and recorded twice if the
 * thread is preempted, or changes its CPU, between the two. The kernel's count includes threads of other
 * processes; the loss is the number of skipped first programs minus the number that the backups made up for.
 */
#ifndef GOTRACE_RECURSION_BACKUP_BPF_H
#define GOTRACE_RECURSION_BACKUP_BPF_H

#include "bpf/base.bpf.h"
#include "bpf/was_run.bpf.h"

/* Called in a second program. Returns true if the first one was skipped. */
static __always_inline bool first_program_skipped(uint32_t side)
{
	if (!first_program_missed(side))
		return false;
	count(HITS_BACKUP, 1);
	return true;
}

#endif
