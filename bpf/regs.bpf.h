/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Architecture differences in a thread's registers; no other file on the BPF side names a register. GO_ARG:
 * Go's register ABI for integers (from Go 1.17 on: src/cmd/compile/abi-internal.md). C_ARG: the first
 * arguments of a C function.
 */
#ifndef GOTRACE_REGS_BPF_H
#define GOTRACE_REGS_BPF_H

#include "vmlinux.h"

#define GO_ARG(regs, n) GO_ARG_##n(regs)
#define C_ARG(regs, n)  C_ARG_##n(regs)

#if defined(__TARGET_ARCH_x86)

#define REG_PC(regs) ((regs)->ip)
#define REG_SP(regs) ((regs)->sp)
#define REG_FP(regs) ((regs)->bp)
#define REG_G(regs)  ((regs)->r14) /* g, in all Go code since 1.17 */

#define GO_ARG_0(regs) ((regs)->ax)
#define GO_ARG_1(regs) ((regs)->bx)
#define GO_ARG_2(regs) ((regs)->cx)
#define GO_ARG_3(regs) ((regs)->di)
#define GO_ARG_4(regs) ((regs)->si)
#define GO_ARG_5(regs) ((regs)->r8)

#define C_ARG_0(regs) ((regs)->di)

#define CALL_SIZE 5 /* length of a call instruction: e8 rel32 */

/* Evaluate the carry and zero flags after a comparison of unsigned numbers. */
#define REG_FLAGS(regs)         ((regs)->flags)
#define IS_EQUAL(regs)          ((regs)->flags & 0x40u)
#define IS_BELOW_OR_EQUAL(regs) ((regs)->flags & 0x41u)

/* In the kernel, orig_ax is the system call's number. It is negative if an interrupt or a fault entered the
 * kernel (arch/x86/entry/entry_64.S). */
#define CALL_OF(regs)      ((__s64)(regs)->orig_ax)
#define CALL_ARG_0(regs)   ((regs)->di)
#define CALL_ARG_1(regs)   ((regs)->si)
#define CALL_ARG_2(regs)   ((regs)->dx)
#define CALL_ARG_2(regs)   ((regs)->dx)
#define CALL_ARG_4(regs)   ((regs)->r8)
#define IS_USER_MODE(regs) (((regs)->cs & 3) == 3)

/*
 * Where a leaf may keep its return address. vfork keeps it in the register of its first argument, because the
 * child overwrites the memory below the stack pointer (glibc sysdeps/unix/sysv/linux/x86_64/vfork.S).
 */
#define LINK_FIELD
#define KEEP_LINK(to, regs)
#define LINK_OF(user_regs) ((user_regs)->call ? (user_regs)->args[0] : 0)
#define REG_LINK(regs)     0

/* Offset in pt_regs of a register numbered as in machine code, -1 for registers that hold no value. */
static inline __attribute__((always_inline)) int reg_offset(__u32 number)
{
	switch (number) {
	case 0:
		return (int)__builtin_offsetof(struct pt_regs, ax);
	case 1:
		return (int)__builtin_offsetof(struct pt_regs, cx);
	case 2:
		return (int)__builtin_offsetof(struct pt_regs, dx);
	case 3:
		return (int)__builtin_offsetof(struct pt_regs, bx);
	case 6:
		return (int)__builtin_offsetof(struct pt_regs, si);
	case 7:
		return (int)__builtin_offsetof(struct pt_regs, di);
	case 8:
		return (int)__builtin_offsetof(struct pt_regs, r8);
	case 9:
		return (int)__builtin_offsetof(struct pt_regs, r9);
	case 10:
		return (int)__builtin_offsetof(struct pt_regs, r10);
	case 11:
		return (int)__builtin_offsetof(struct pt_regs, r11);
	case 12:
		return (int)__builtin_offsetof(struct pt_regs, r12);
	case 13:
		return (int)__builtin_offsetof(struct pt_regs, r13);
	default:
		return -1;
	}
}

/* Member names for MEMBER. */
#define REG_PC_MEMBER ip
#define REG_FP_MEMBER bp
#define REG_G_MEMBER  r14
#define CALL_MEMBER   orig_ax

/* The member of a task that holds the C library's thread pointer. */
#define THREAD_POINTER thread.fsbase

#elif defined(__TARGET_ARCH_arm64)

#define REG_PC(ctx) ((ctx)->pc)
#define REG_SP(ctx) ((ctx)->sp)
#define REG_FP(ctx) ((ctx)->regs[29])
#define REG_G(ctx)  ((ctx)->regs[28]) /* g, in all Go code: cmd/internal/obj/arm64/a.out.go, REGG */

#define GO_ARG_0(ctx) ((ctx)->regs[0])
#define GO_ARG_1(ctx) ((ctx)->regs[1])
#define GO_ARG_2(ctx) ((ctx)->regs[2])
#define GO_ARG_3(ctx) ((ctx)->regs[3])
#define GO_ARG_4(ctx) ((ctx)->regs[4])
#define GO_ARG_5(ctx) ((ctx)->regs[5])

#define C_ARG_0(ctx) ((ctx)->regs[0])

#define CALL_SIZE 4 /* length of a bl */

/* Flags Z and C of PSTATE; C is set when a comparison finds no borrow (Arm ARM, C1.2.4: eq, ls). */
#define PSTATE_Z  0x40000000u
#define PSTATE_C  0x20000000u

#define REG_FLAGS(ctx)         ((ctx)->pstate)
#define IS_EQUAL(ctx)          ((ctx)->pstate & PSTATE_Z)
#define IS_BELOW_OR_EQUAL(ctx) (((ctx)->pstate & (PSTATE_Z | PSTATE_C)) != PSTATE_C)

/* syscallno is -1 outside of system calls (arch/arm64/kernel/entry.S, kernel_entry). Register 0, which
 * receives the result, is saved separately (arch/arm64/kernel/syscall.c). */
#define CALL_OF(ctx)           ((__s64)(ctx)->syscallno)
#define CALL_ARG_0(ctx)        ((ctx)->orig_x0)
#define CALL_ARG_1(ctx)        ((ctx)->regs[1])
#define CALL_ARG_2(ctx)        ((ctx)->regs[2])
#define CALL_ARG_2(ctx)        ((ctx)->regs[2])
#define CALL_ARG_4(ctx)        ((ctx)->regs[4])
#define IS_USER_MODE(ctx)      (((ctx)->pstate & 0xf) == 0) /* EL0t: arch/arm64/include/asm/ptrace.h */

#define REG_PC_MEMBER      pc
#define REG_FP_MEMBER      regs[29]
#define CALL_MEMBER        syscallno

/* A leaf keeps its return address in the link register. */
#define LINK_FIELD         uint64_t link;
#define KEEP_LINK(to, ctx) ((to)->link = (ctx)->regs[30])
#define LINK_OF(user_regs) ((user_regs)->link)
#define REG_LINK(ctx)      ((ctx)->regs[30])

/* Offset in pt_regs of a register numbered as in machine code, -1 for registers that hold no value. */
static inline __attribute__((always_inline)) int reg_offset(__u32 number)
{
	return number < 31 ? (int)(number * sizeof(__u64)) : -1;
}

#else
#error "which registers does this architecture have?"
#endif

#endif
