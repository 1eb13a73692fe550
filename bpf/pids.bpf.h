/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Thread ids in pid namespaces. task_struct.pid and tgid are those of the initial namespace. In the usual
 * case this is switched off and costs nothing.
 */
#ifndef GOTRACE_PIDS_BPF_H
#define GOTRACE_PIDS_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/record.h"
#include "bpf/task.bpf.h"

/*
 * Set by capture before loading: the process is in a pid namespace below the initial one, and its runtime
 * knows its threads by the ids of that namespace.
 */
const volatile bool inner_tids;

/* include/linux/pid.h. The kernel's `numbers` has one element per level. */
struct upid {
	int nr;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));

struct task_struct___pids {
	struct pid *thread_pid; /* NULL once the thread is being released */
} __attribute__((preserve_access_index));

static __always_inline struct pid *thread_pid(struct task_struct *task)
{
	return BPF_CORE_READ((struct task_struct___pids *)task, thread_pid);
}

/* The depth of the thread's namespace; 0 = the initial one. */
static __always_inline uint32_t level_of(const struct pid *pid)
{
	return BPF_CORE_READ(pid, level);
}

/* The id in the namespace at `level`, which must not exceed the level of the struct pid. */
static __always_inline uint32_t id_at(const struct pid *pid, uint32_t level)
{
	const char *ids = (const char *)pid + bpf_core_field_offset(struct pid, numbers);
	int id = 0;

	bpf_probe_read_kernel(&id, sizeof(id),
			      ids + (uint64_t)level * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	return (uint32_t)id;
}

/* The id of the current thread as the process itself sees it. */
static __always_inline uint32_t own_tid(void)
{
	const struct pid *pid;

	if (!inner_tids)
		return current_tid();
	pid = MEMBER((struct task_struct___pids *)current_task(), thread_pid);
	return id_at(pid, MEMBER(pid, level));
}

#endif
