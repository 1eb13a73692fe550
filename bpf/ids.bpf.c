/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What threads of a pid namespace are called in the initial one: for gotrace
 * in a container of its own, to which /proc tells the ids of the container.
 */
#include "bpf/pids.bpf.h"

/* Reading the list of tasks runs it, for each of them in the reader's namespace. */
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
