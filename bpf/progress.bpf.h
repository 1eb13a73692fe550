/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a process has got done: user space compares its CPU time for that with and without probes. */
#ifndef GOTRACE_PROGRESS_BPF_H
#define GOTRACE_PROGRESS_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/task.bpf.h"

/* tgid of the process in the initial pid namespace, set by capture before loading */
const volatile uint32_t progress_tgid;

/*
 * With several processes, the includer says which ones belong to the target, too. Threads of these that have
 * ended are counted in ENDED_BYTES.
 */
#ifndef IS_IN_TREE
#define IS_IN_TREE(tgid) false
#endif

/*
 * Runs for each task when user space reads the iterator: writes the bytes that a thread has read and written
 * by system calls on files, pipes and sockets, without recv(2) and send(2) (CONFIG_TASK_XACCT, /proc/PID/io).
 */
SEC("?iter/task")
int list_progress(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	uint64_t bytes;
	uint32_t tgid;

	if (!task || !bpf_core_field_exists(struct task_struct, ioac.rchar))
		return 0;
	tgid = MEMBER(task, tgid);
	if (tgid != progress_tgid && !IS_IN_TREE(tgid))
		return 0;
	bytes = MEMBER(task, ioac.rchar) + MEMBER(task, ioac.wchar);
	if (!IS_IN_TREE(tgid) &&
	    MEMBER(task, pid) == MEMBER(task, tgid)) /* and those of threads that have ended */
		bytes += MEMBER(task, signal, ioac.rchar) + MEMBER(task, signal, ioac.wchar);
	bpf_seq_write(ctx->meta->seq, &bytes, sizeof(bytes));
	return 0;
}

#endif
