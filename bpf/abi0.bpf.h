/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Differences between Go releases in how a program finds arguments, the current goroutine and stacks. From Go
 * 1.17 on, arguments and g are in registers, and stacks are walked by frame pointers. Up to Go 1.16 (ABI0),
 * arguments are on the stack, no register holds g, and stacks are scanned (bpf/scan.bpf.h). The verifier sees
 * go_minor as a constant, so a loaded program contains only one of the two variants.
 *
 * A probe is either at the jump of the stack check, before the function makes its frame, or at a call. Under
 * ABI0, in the first case the stack pointer points to the return address and the arguments are above it; in
 * the second, the stack pointer points to the callee's arguments.
 *
 * The number of leaf frames to skip in a stack is the value that each traceGo... function passes to
 * traceEvent (Go 1.5 to 1.16 runtime/trace.go, proc.go). If it is 0, the runtime's own trace has no stack.
 */
#ifndef GOTRACE_ABI0_BPF_H
#define GOTRACE_ABI0_BPF_H

#include "bpf/scan.bpf.h"

/* --- arguments --- */

/* Loads the first n arguments from registers, or under ABI0 from the stack at REG_SP + above. */
static __always_inline bool load_args(const struct pt_regs *ctx, uint64_t *args, uint32_t n, uint32_t above)
{
	if (has_abi0())
		return read_user(args, n * 8, REG_SP(ctx) + above);
	args[0] = GO_ARG(ctx, 0);
	if (n > 1)
		args[1] = GO_ARG(ctx, 1);
	if (n > 2)
		args[2] = GO_ARG(ctx, 2);
	if (n > 3)
		args[3] = GO_ARG(ctx, 3);
	if (n > 4)
		args[4] = GO_ARG(ctx, 4);
	return true;
}

/*
 * Reads the first n argument words of a function probed at its stack check. Returns false if they cannot be
 * read.
 */
static __always_inline bool entry_args(const struct pt_regs *ctx, uint64_t *args, uint32_t n)
{
	return load_args(ctx, args, n, 8);
}

/* As entry_args(), for the callee's arguments at a probed call. */
static __always_inline bool call_args(const struct pt_regs *ctx, uint64_t *args, uint32_t n)
{
	return load_args(ctx, args, n, 0);
}

/*
 * True if the function is about to grow its stack and start over, which causes a second hit. Up to Go 1.20,
 * and on arm64, a prologue is probed at the jump of its stack check.
 */
static __always_inline bool will_restart_prologue(const struct pt_regs *ctx)
{
#if !defined(__TARGET_ARCH_arm64)
	if (go_minor > 20)
		return false;
#endif
	if (!IS_BELOW_OR_EQUAL(ctx))
		return false;
	count(HITS_SILENT, 1);
	return true;
}

/* --- the current goroutine --- */

/* Returns the g of the probed code; scheduler code runs on g0. Returns 0 for a thread that is not Go's. */
static __always_inline uint64_t this_g(const struct pt_regs *ctx)
{
	return has_abi0() ? thread_g() : REG_G(ctx);
}

static __always_inline uint64_t this_m(const struct pt_regs *ctx)
{
	uint64_t g = this_g(ctx);

	return g ? m_of_g(g) : 0;
}

/* Reads the goroutine that runs the probed code. */
static __always_inline bool read_self(const struct pt_regs *ctx, struct raw_record *rec, struct go_g *g)
{
	rec->g = this_g(ctx);
	if (!rec->g || !read_g(g, rec->g))
		return false;
	rec->goid = g_word(g, layout.g_goid);
	rec->status = g_status(g);
	rec->p = p_after_hidden_change(g_word(g, layout.g_m));
	return true;
}

/* --- stacks --- */

/*
 * The stack of a goroutine that is not running Go code now. awaited: NULL, or receives what a parked
 * goroutine waits for (AWAITED).
 */
static __always_inline uint64_t stack_of_stopped(const struct go_g *g, uint8_t skip, bool preempted,
						 uint64_t *awaited)
{
	return has_abi0() ? scan_g(g, skip, awaited) : walk_stopped(g, skip, preempted, awaited);
}

static __always_inline uint64_t stack_of_g(const struct go_g *g, uint8_t skip)
{
	return stack_of_stopped(g, skip, false, NULL);
}

/* The stack of a goroutine in a system call. bp is its thread's frame pointer in user mode. */
static __always_inline uint64_t stack_in_call(const struct go_g *g, uint64_t bp)
{
	return has_abi0() ? scan_g(g, 1, NULL) : walk_in_call(g, bp);
}

/* The stack that begins with the caller of the probed function, which has not made its frame yet. */
static __always_inline uint64_t stack_of_caller(const struct pt_regs *ctx, const struct go_g *g, uint8_t skip)
{
	uint64_t hi = g_word(g, layout.g_stack_hi);

	return has_abi0() ? scan_from(return_address(ctx), REG_SP(ctx) + 8, hi, skip, 0)
			  : walk_from(return_address(ctx), REG_FP(ctx), hi, skip);
}

#endif
