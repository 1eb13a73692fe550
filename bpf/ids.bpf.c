/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps thread ids of a pid namespace to those of the initial namespace. Needed if gotrace runs in a container
 * of its own, where /proc shows the container's ids.
 */
#include "bpf/pids.bpf.h"

/* Runs for each task in the reader's pid namespace when user space reads the iterator. */
SEC("iter/task")
int list_ids(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct id_pair pair;

	if (!task)
		return 0;
	pair.outer = task->pid;
	pair.level = level_of(thread_pid((struct task_struct *)bpf_get_current_task()));
	pair.own = id_at(thread_pid(task), pair.level);
	bpf_seq_write(ctx->meta->seq, &pair, sizeof(pair));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
