/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CPU samples of threads: a per-CPU software clock fires; a sample is emitted if a traced thread is
 * running. */
#ifndef GOTRACE_SAMPLES_BPF_H
#define GOTRACE_SAMPLES_BPF_H

#include "bpf/thread.bpf.h"

/* For a thread in the kernel, the sample shows where it left user mode. */
SEC("?perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = current_task();
	struct raw_record rec = {.site = SITE_CPU_SAMPLE};
	struct user_regs regs;
	uint32_t tgid = MEMBER(task, tgid);

	(void)ctx;
	if (!is_traced(tgid) || !begin_hit())
		return 0;
	rec.tid = MEMBER(task, pid);
	rec.goid = tgid;
	if (!(MEMBER(task, flags) & PF_EXITING) && user_regs(&regs, task) && regs.ip)
		rec.stack = stack_of(&regs, tgid);
	rec.p = bpf_get_smp_processor_id();
	rec.time = bpf_ktime_get_ns();
	if (own_level)
		translate_ids(&rec);
	put(&rec, sizeof(rec));
	return 0;
}

#endif
