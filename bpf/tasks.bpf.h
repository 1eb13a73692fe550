/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The iterator over all threads of a process, for snapshots. */
#ifndef GOTRACE_TASKS_BPF_H
#define GOTRACE_TASKS_BPF_H

#include "bpf/sched.bpf.h"

/* Runs for each task when user space reads the iterator. */
SEC("?iter/task")
int list_thread(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct raw_thread thread = {0};
	struct user_regs regs;
	uint64_t state;

	if (!task || !is_traced(MEMBER(task, tgid)))
		return 0;
	state = state_of(task);
	user_regs(&regs, task);
	thread.tid = pidns_id(MEMBER(task, pid));
	thread.tgid = pidns_id(MEMBER(task, tgid));
	thread.cpu = cpu_of(task);
	thread.on_cpu = MEMBER(task, on_cpu);
	thread.exiting = !!(MEMBER(task, flags) & PF_EXITING);
	thread.left = left_in(state);
	thread.start_ns = MEMBER(task, start_boottime);
	thread.call = regs.call;
	thread.wait = regs.call ? wait_in_call(task, &regs, false) : 0;
	thread.ip = regs.ip;
	thread.sp = regs.sp;
	thread.bp = regs.bp;
	thread.link = LINK_OF(&regs);
	thread.switches = MEMBER(task, nvcsw) + MEMBER(task, nivcsw);
	read_comm(thread.comm, task);
	bpf_seq_write(ctx->meta->seq, &thread, sizeof(thread));
	return 0;
}

#endif
