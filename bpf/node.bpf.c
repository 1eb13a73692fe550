/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The programs at the tracepoints of system calls and switches, for all recorders of a node. They run at
 * every call and switch of the machine, and pass those of recorded processes on to the recorder's programs.
 * Otherwise the programs of each recorder would run there: 0.17 us a call for each (Linux 6.18, 2 CPUs).
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/was_run.bpf.h"
#include "bpf/node.h"

/* Recorded processes: tgid in the initial pid namespace -> slot. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NODE_SLOTS);
	__type(key, uint32_t);
	__type(value, uint32_t);
} recorded SEC(".maps");

/* The programs of recorders by slot. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, NODE_SLOTS);
	__type(key, uint32_t);
	__type(value, uint32_t);
} entries SEC(".maps"), exits SEC(".maps"), switches SEC(".maps");

/* Returns NODE_SLOTS if the process is not recorded. */
static __always_inline uint32_t slot_of(uint32_t tgid)
{
	const uint32_t *slot = bpf_map_lookup_elem(&recorded, &tgid);

	return slot ? *slot : NODE_SLOTS;
}

/* Does nothing where the slot has no program. */
static __always_inline void pass(void *ctx, void *programs)
{
	bpf_tail_call(ctx, programs, slot_of((uint32_t)(bpf_get_current_pid_tgid() >> 32)));
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(node_enter, struct pt_regs *regs, long id)
{
	note_run(CALL_ENTRY);
	pass(ctx, &entries);
	return 0;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(node_enter_backup, struct pt_regs *regs, long id)
{
	if (first_program_missed(CALL_ENTRY))
		pass(ctx, &entries);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(node_exit, struct pt_regs *regs, long result)
{
	note_run(CALL_EXIT);
	pass(ctx, &exits);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(node_exit_backup, struct pt_regs *regs, long result)
{
	if (first_program_missed(CALL_EXIT))
		pass(ctx, &exits);
	return 0;
}

/* Not for Linux 5.16 and 5.17, where prev_state comes second. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(node_leave, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	bpf_tail_call(ctx, &switches, slot_of((uint32_t)prev->tgid));
	return 0;
}

/* A recorder's program looks at both threads, so it is called once if both are of its process. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(node_come, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	uint32_t slot = slot_of((uint32_t)next->tgid);

	if (slot != NODE_SLOTS && slot != slot_of((uint32_t)prev->tgid))
		bpf_tail_call(ctx, &switches, slot);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
