/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Access to kernel structs, on kernels that verify pointers to them and on those that do not. On the former,
 * a member is a plain load (needs BTF; for the current task Linux 5.11, 3ca1032ab7ab; for its registers 5.15,
 * dd6e10fbd9fb). On the latter, programs are attached to raw tracepoints, whose arguments are plain numbers
 * to the verifier, and read members by a helper. The choice is a constant to the verifier, so the other
 * branch is eliminated as dead code.
 */
#ifndef GOTRACE_TASK_BPF_H
#define GOTRACE_TASK_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

const volatile bool probed_tasks; /* set by capture (src/capture/features.h): use the helper */

/* Reads a member, directly or through pointers: MEMBER(task, tgid), MEMBER(task, signal, live.counter). */
#define PICK_MEMBER(_1, _2, _3, _4, pick, ...) pick
#define LOAD_1(from, a)                        ((from)->a)
#define LOAD_2(from, a, b)                     ((from)->a->b)
#define LOAD_3(from, a, b, c)                  ((from)->a->b->c)
#define LOAD_MEMBER(from, ...)                 PICK_MEMBER(from, __VA_ARGS__, LOAD_3, LOAD_2, LOAD_1)(from, __VA_ARGS__)

#define MEMBER(from, ...) (probed_tasks ? BPF_CORE_READ(from, __VA_ARGS__) : LOAD_MEMBER(from, __VA_ARGS__))

/*
 * Linux 6.2 (a35b9af4ec2c): makes a pointer into a kernel struct of a number, so that its members are plain
 * loads, which read 0 where there is nothing. libbpf looks for it in the BTF of the running kernel, and fails
 * if the kernel has none, even though the symbol is weak.
 */
extern void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym __weak;

#if defined(BEFORE_512) || defined(NO_BTF)
#define CAN_CAST false
#else
#define CAN_CAST (!probed_tasks && (uint64_t)bpf_rdonly_cast)
#endif
#define CAST(address, type) ((type *)bpf_rdonly_cast((address), bpf_core_type_id_kernel(type)))

static __always_inline struct task_struct *current_task(void)
{
	return probed_tasks ? (struct task_struct *)bpf_get_current_task() : bpf_get_current_task_btf();
}

static __always_inline uint32_t current_tid(void)
{
	return probed_tasks ? (uint32_t)bpf_get_current_pid_tgid()
			    : (uint32_t)bpf_get_current_task_btf()->pid;
}

static __always_inline uint32_t current_tgid(void)
{
	return probed_tasks ? bpf_get_current_pid_tgid() >> 32 : (uint32_t)bpf_get_current_task_btf()->tgid;
}

#define TASK_COMM 16u

/* Reads a thread's name. */
static __always_inline void read_comm(char comm[TASK_COMM], const struct task_struct *task)
{
	if (probed_tasks)
		bpf_core_read(comm, TASK_COMM, &task->comm);
	else
		__builtin_memcpy(comm, task->comm, TASK_COMM);
}

/* Copies the registers that a tracepoint passes. */
static __always_inline void read_regs(struct pt_regs *copy, const struct pt_regs *from)
{
	if (bpf_probe_read_kernel(copy, sizeof(*copy), from))
		__builtin_memset(copy, 0, sizeof(*copy));
}

#endif
