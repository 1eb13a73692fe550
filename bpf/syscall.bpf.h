/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * System calls. The kernel's tracepoints see them at a fifth of the cost of a
 * uprobe; those that Go does not count as such (raw ones, the runtime's own)
 * are told by g's status. Calls into C enter no kernel: they need uprobes.
 */
#ifndef GOTRACE_SYSCALL_BPF_H
#define GOTRACE_SYSCALL_BPF_H

#include "bpf/again.bpf.h"
#include "bpf/scan.bpf.h"

static __always_inline bool is_target(void)
{
	return current_tgid() == target_tgid;
}

/* asm/unistd_64.h, asm-generic/unistd.h */
#if defined(__TARGET_ARCH_arm64)
#define NR_ARCH_PRCTL (-1)
#define NR_GETTID     178
#else
#define NR_ARCH_PRCTL 158
#define NR_GETTID     186
#endif

/*
 * A new thread has its creator's TLS (arm64: registers), and g with it, until its own is set: by
 * these two calls (clone and settls in runtime/sys_linux_amd64.s, Go 1.4 … 1.26; clone in sys_linux_arm64.s).
 */
static __always_inline bool is_newborn(long id, uint64_t m)
{
	uint32_t tid = 0;

	if (id != NR_ARCH_PRCTL && id != NR_GETTID)
		return false;
	return bpf_probe_read_user(&tid, sizeof(tid), (const void *)(m + layout.m_procid)) ||
	       tid != own_tid();
}

/* g of a thread that enters or leaves the kernel by a system call. Where g is in a register, it is so in Go's
 * own code only. */
static __always_inline uint64_t g_in_call(const struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_arm64)
	if (!lies_in(REG_PC(regs), places.text, places.etext))
		return 0;
#endif
	return current_g(regs);
}

static __always_inline void enter_call(const struct pt_regs *regs, long id)
{
	struct raw_record rec = {.site = SITE_SYS_ENTER, .arg2 = (uint64_t)id, .status = GSYSCALL};
	uint32_t tick = 0;
	struct go_g g;
	uint64_t m;

	rec.g = g_in_call(regs);
	if (!rec.g || !read_g(&g, rec.g) || g_status(&g) != GSYSCALL)
		return; /* not one of Go's */
	m = g_word(&g, layout.g_m);
	if (is_newborn(id, m))
		return;
	rec.goid = g_word(&g, layout.g_goid);
	if (quiet_ps)
		rec.p = p_in_syscall(m);
	if (layout.m_syscalltick != LAYOUT_ABSENT)
		read_user(&tick, sizeof(tick), m + layout.m_syscalltick);
	else if (rec.p) /* 1.4 has the P's alone */
		read_user(&tick, sizeof(tick), rec.p + layout.p_syscalltick);
	rec.arg = tick;
	rec.stack = scan_stacks ? scan_g(&g, 1) : stack_in_call(&g, MEMBER(regs, REG_FP_MEMBER));
	send(&rec);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id)
{
	if (is_target())
		enter_call(regs, id);
	note_run(CALL_ENTRY);
	return 0;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(sys_enter_again, struct pt_regs *regs, long id)
{
	if (was_left_out(CALL_ENTRY) && is_target())
		enter_call(regs, id);
	return 0;
}

/* Which goroutine it is, and in which call, was told at the entry. */
static __always_inline void exit_call(const struct pt_regs *regs)
{
	struct raw_record rec = {.site = SITE_SYS_EXIT, .status = GSYSCALL};
	uint32_t status = 0;

	rec.g = g_in_call(regs);
	/* A new thread's own TLS has no g yet, but anything, when arch_prctl has set it: that is no loss. */
	if (!rec.g || bpf_probe_read_user(&status, sizeof(status), (const void *)(rec.g + layout.g_status)) ||
	    (status & ~GSCAN) != GSYSCALL)
		return;
	rec.arg2 = MEMBER(regs, CALL_MEMBER);
	send(&rec);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	(void)ret;
	if (is_target())
		exit_call(regs);
	note_run(CALL_EXIT);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(sys_exit_again, struct pt_regs *regs, long ret)
{
	(void)ret;
	if (was_left_out(CALL_EXIT) && is_target())
		exit_call(regs);
	return 0;
}

/* The goroutine that runs this code itself, on its own stack. */
static __always_inline bool self(struct raw_record *rec, struct go_g *g, uint64_t address)
{
	if (!read_g(g, address))
		return false;
	rec->g = address;
	rec->goid = g_word(g, layout.g_goid);
	rec->status = g_status(g);
	rec->p = p_in_syscall(g_word(g, layout.g_m));
	return true;
}

/*
 * entersyscallblock, before its push %rbp: what it will keep as syscallpc and syscallbp. Up to Go 1.20,
 * without one, at its call of casgstatus, when it has kept them.
 */
SEC("?uprobe")
int syscall_block(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_SYSCALL_BLOCK};
	struct go_g g;

	if (!self(&rec, &g, REG_G(ctx)))
		return 0;
	if (go_minor >= 21)
		rec.stack = stack_from(return_address(ctx), REG_FP(ctx), g_word(&g, layout.g_stack_hi), 1);
	else
		rec.stack = stack_in_call(&g, REG_FP(ctx));
	send(&rec);
	return 0;
}

static __always_inline void enter_c(struct pt_regs *ctx, uint8_t site, uint64_t pc, uint64_t bp)
{
	struct raw_record rec = {.site = site};
	struct go_g g;

	if (!self(&rec, &g, REG_G(ctx)))
		return;
	rec.stack = stack_from(pc, bp, g_word(&g, layout.g_stack_hi), 1);
	send(&rec);
}

/* At the call of entersyscall in cgocall . */
SEC("?uprobe")
int call_enter(struct pt_regs *ctx)
{
	enter_c(ctx, SITE_CALL_ENTER, REG_PC(ctx) + CALL_SIZE, REG_FP(ctx));
	return 0;
}

/*
 * At the call of reentersyscall in cgocallbackg, with what its cgocall had
 * kept: AX = pc, BX = sp, and from Go 1.23 on CX = bp.
 */
SEC("?uprobe")
int call_return(struct pt_regs *ctx)
{
	if (layout.g_syscallbp != LAYOUT_ABSENT)
		enter_c(ctx, SITE_CALL_RETURN, GO_ARG(ctx, 0), GO_ARG(ctx, 2));
	else if (go_minor > 20)
		enter_c(ctx, SITE_CALL_RETURN, REG_PC(ctx) + CALL_SIZE, REG_FP(ctx));
	else if (lies_in(GO_ARG(ctx, 0), places.cgocall, places.cgocall_end))
		enter_c(ctx, SITE_CALL_RETURN, GO_ARG(ctx, 0), GO_ARG(ctx, 1) + places.cgocall_frame);
	else
		enter_c(ctx, SITE_CALL_RETURN, GO_ARG(ctx, 0), 0); /* a thread of C's own */
	return 0;
}

SEC("?uprobe")
int call_exit(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_CALL_EXIT};
	struct go_g g;

	if (self(&rec, &g, REG_G(ctx)))
		send(&rec);
	return 0;
}

/* At a call of casgstatus: AX = g. */
static __always_inline void by_casgstatus(struct pt_regs *ctx, uint8_t site)
{
	struct raw_record rec = {.site = site};
	struct go_g g;

	if (self(&rec, &g, GO_ARG(ctx, 0)))
		send(&rec);
}

SEC("?uprobe")
int exit_no_p(struct pt_regs *ctx)
{
	by_casgstatus(ctx, SITE_EXIT_NO_P);
	return 0;
}

SEC("?uprobe")
int needm(struct pt_regs *ctx)
{
	by_casgstatus(ctx, SITE_NEEDM);
	return 0;
}

SEC("?uprobe")
int dropm(struct pt_regs *ctx)
{
	by_casgstatus(ctx, SITE_DROPM);
	return 0;
}

#endif
