/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Executes a probed `ret` in the BPF program. Under a uprobe, x86 kernels emulate a push, a jump or a call,
 * but single-step a return out of line (arch/x86/kernel/uprobes.c), which costs ten times the probe in a
 * virtual machine. From Linux 6.18 on a uprobe's program may write registers (7384893d970e), and the kernel
 * does not run the instruction if the program has changed ip (kernel/events/uprobes.c, handle_swbp). On arm64
 * the kernel emulates `ret` itself (arch/arm64/kernel/probes/decode-insn.c).
 */
#ifndef GOTRACE_RETURN_BPF_H
#define GOTRACE_RETURN_BPF_H

#include "bpf/base.bpf.h"

/* Set by capture before loading. Kernels that reject the writes never see them, because they are dead code
 * there. */
const volatile bool runs_returns;
const volatile bool has_shadow_stacks; /* the kernel lets programs use shadow stacks */

#if defined(__TARGET_ARCH_x86)

#define ARCH_SHSTK_SHSTK 1u /* arch/x86/include/uapi/asm/prctl.h */
#define USER_BITS        47 /* in an address, with four levels of page tables */

/* With a shadow stack (CET) the processor keeps a second return address, which only a real `ret` pops. */
static __always_inline bool on_shadow_stack(void)
{
	struct task_struct *task;

	if (!has_shadow_stacks)
		return false;
	task = current_task();
	return !bpf_core_field_exists(task->thread.features) ||
	       MEMBER(task, thread.features) & ARCH_SHSTK_SHSTK;
}

/* True if another program at this probe, of this or another gotrace, has already run the `ret`. */
static __always_inline bool has_returned(const struct pt_regs *ctx, uint64_t cookie)
{
	return runs_returns && cookie & FUNCTION_RETURNS && (REG_PC(ctx) & 0xfff) != FUNCTION_PLACE(cookie);
}

struct stack_top {
	uint64_t below, address; /* the word below the stack pointer; the return address */
};

/*
 * Rejects a return address at which the processor would fault, and that of the `ret` itself, because the
 * kernel runs the instruction if ip has not changed. The last check prevents running the `ret` twice: if the
 * return address has the same offset within its page as the `ret`, has_returned() is wrong; but an address
 * just popped is still in the word below the stack pointer, and equals ip.
 */
static __always_inline bool can_return(const struct pt_regs *ctx, const struct stack_top *top)
{
	return !(top->address >> USER_BITS) && top->address != REG_PC(ctx) && top->below != REG_PC(ctx);
}

/* If this does not change the registers, the kernel single-steps the `ret`. */
static __always_inline void run_return(struct pt_regs *ctx, uint64_t cookie)
{
	struct stack_top top;

	if (!runs_returns || !(cookie & FUNCTION_RETURNS) || has_returned(ctx, cookie) || on_shadow_stack())
		return;
	if (bpf_probe_read_user(&top, sizeof(top), (const void *)(REG_SP(ctx) - 8)) || !can_return(ctx, &top))
		return;
	REG_SP(ctx) += 8;
	REG_PC(ctx) = top.address;
}

#else

static __always_inline bool has_returned(const struct pt_regs *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
	return false;
}

static __always_inline void run_return(struct pt_regs *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

#endif

/* At the end of a call: the caller's stack pointer. */
static __always_inline uint64_t caller_sp(const struct pt_regs *ctx, uint64_t cookie)
{
	return has_returned(ctx, cookie) ? REG_SP(ctx) : REG_SP(ctx) + FUNCTION_DISTANCE(cookie) * 8;
}

#endif
