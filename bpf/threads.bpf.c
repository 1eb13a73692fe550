/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The BPF side for a process traced as threads: programs on the scheduler's tracepoints, on those of system
 * calls and on the user's functions, and CPU samples. The marker is in bpf/base.bpf.h.
 */
#include "bpf/calls.bpf.h"
#include "bpf/functions.bpf.h"
#include "bpf/samples.bpf.h"
#include "bpf/sched.bpf.h"
#include "bpf/tasks.bpf.h"

#define IS_IN_TREE(tgid) (several && is_followed(tgid))
#include "bpf/progress.bpf.h"

const volatile uint32_t own_tgid; /* gotrace itself */

/* The distance is the same for every thread: the registers are at the end of its kernel stack. */
static __always_inline void find_regs(const struct task_struct *task, const struct pt_regs *user)
{
	uint64_t distance = (uint64_t)user - (uint64_t)MEMBER(task, stack);

	if (distance < REGS_PLACE_MAX)
		regs_place = (uint32_t)distance;
}

/* Looks at a system call of gotrace itself. Loaded with probed tasks only. */
SEC("?tp_btf/sys_enter")
int BPF_PROG(own_call, struct pt_regs *user)
{
	struct task_struct *task = current_task();

	if ((uint32_t)MEMBER(task, tgid) == own_tgid)
		find_regs(task, user);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
