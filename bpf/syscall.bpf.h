/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * System calls of Go programs. The kernel's tracepoints report them at a fifth of the cost of a uprobe. Calls
 * that Go does not treat as system calls (raw ones, the runtime's own) are recognised by g's status. Calls
 * into C do not enter the kernel and need uprobes.
 */
#ifndef GOTRACE_SYSCALL_BPF_H
#define GOTRACE_SYSCALL_BPF_H

#include "bpf/recursion_backup.bpf.h"
#include "bpf/abi0.bpf.h"
#include "bpf/own_thread.bpf.h"

static __always_inline bool is_target(void)
{
	return current_tgid() == target_tgid;
}

/* asm/unistd_64.h, asm-generic/unistd.h */
#if defined(__TARGET_ARCH_arm64)
#define NR_ARCH_PRCTL (-1)
#define NR_GETTID     178
#define NR_EXECVE     221
#define NR_EXECVEAT   281
#define NR_EXIT       93
#define NR_EXIT_GROUP 94
#else
#define NR_ARCH_PRCTL 158
#define NR_GETTID     186
#define NR_EXECVE     59
#define NR_EXECVEAT   322
#define NR_EXIT       60
#define NR_EXIT_GROUP 231
#endif

/* What ends next in this thread, or in another one with its number, is not the call that began. */
static __always_inline bool may_not_return(long id)
{
	return id == NR_EXECVE || id == NR_EXECVEAT || id == NR_EXIT || id == NR_EXIT_GROUP;
}

/*
 * A new thread has its creator's TLS (arm64: registers), and so its creator's g, until its own is set. Until
 * then it makes only these two calls (clone and settls in runtime/sys_linux_amd64.s, Go 1.4 … 1.26; clone in
 * sys_linux_arm64.s).
 */
static __always_inline bool is_newborn(long id, uint64_t m)
{
	uint32_t tid = 0;

	if (id != NR_ARCH_PRCTL && id != NR_GETTID)
		return false;
	return bpf_probe_read_user(&tid, sizeof(tid), (const void *)(m + layout.m_procid)) ||
	       tid != own_tid();
}

/* The g of a thread at a system call. Where a register holds g, it does so only in Go's own code. */
static __always_inline uint64_t g_in_call(const struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_arm64)
	if (!lies_in(REG_PC(regs), places.text, places.etext))
		return 0;
#endif
	return current_g(regs);
}

/*
 * Reads the g of a thread that enters a system call. Returns false if it is not a goroutine in one. A failed
 * read is not counted as a loss: before the runtime has started (C libraries' constructors, _cgo_init of Go
 * 1.27), the TLS has the address of runtime.g0, whose page has not been touched; and a C thread may have
 * arbitrary bytes there.
 */
static __always_inline bool read_g_in_call(struct go_g *g, uint64_t address)
{
	return address && !bpf_probe_read_user(g, sizeof(*g), (const void *)address) &&
	       g_status(g) == GSYSCALL;
}

/*
 * Finds the goroutine that enters a system call, and its M. Go's wrappers of system calls leave g in its
 * register (Go 1.17 to 1.27 runtime, syscall and internal/runtime/syscall), which spares the read of the TLS.
 * Anything may be there in C code, so the g that it names counts only with the M that the TLS has led to.
 */
static __always_inline uint64_t find_caller(const struct pt_regs *regs, struct go_g *g, uint64_t *m)
{
	uint64_t address;

#if !defined(__TARGET_ARCH_arm64)
	address = has_abi0() ? 0 : MEMBER(regs, REG_G_MEMBER);
	if (read_g_in_call(g, address)) {
		*m = g_word(g, layout.g_m);
		if (is_own_m(*m))
			return address;
	}
#endif
	address = g_in_call(regs);
	*m = read_g_in_call(g, address) ? g_word(g, layout.g_m) : 0;
	return address;
}

/* syscall.Syscall and Syscall6 enter the kernel once, but for a call that starts again after a signal. */
static __always_inline bool enters_once(const struct go_g *g)
{
	uint64_t pc = g_word(g, layout.g_syscallpc);

	return lies_in(pc, places.syscall3, places.syscall3_end) ||
	       lies_in(pc, places.syscall6, places.syscall6_end);
}

/*
 * Meanwhile the runtime itself may enter the kernel on the same stack: at the end of a signal handler, and in
 * casgstatus, which yields while the collector looks at the goroutine.
 */
static __always_inline bool is_runtime_call(const struct pt_regs *regs, const struct go_g *g)
{
	return enters_once(g) &&
	       !lies_in(MEMBER(regs, REG_PC_MEMBER), places.raw_syscall, places.raw_syscall_end);
}

/*
 * What distinguishes a call from the next one of the same place: m.syscalltick, which exitsyscall increments.
 * One call may enter the kernel more than once.
 */
static __always_inline uint32_t tick_of_call(const struct go_g *g, uint64_t address, uint64_t m, uint64_t p)
{
	uint32_t tick = 0;

	if (enters_once(g)) {
		tick = interrupted_call(address, m);
		return tick ? tick : new_call_number();
	}
	if (layout.m_syscalltick != LAYOUT_ABSENT)
		read_user(&tick, sizeof(tick), m + layout.m_syscalltick);
	else if (p) /* 1.4 has only the P's tick */
		read_user(&tick, sizeof(tick), p + layout.p_syscalltick);
	return tick & ~CALL_NUMBER;
}

static __always_inline void enter_call(const struct pt_regs *regs, long id)
{
	struct raw_record rec = {.site = SITE_SYS_ENTER, .arg2 = (uint64_t)id, .status = GSYSCALL};
	struct go_g g;
	uint64_t m;

	rec.g = find_caller(regs, &g, &m);
	if (!m || is_newborn(id, m) || is_runtime_call(regs, &g)) {
		remember_call(NO_CALL);
		return; /* not one of Go's */
	}
	remember_own_m(m);
	remember_call(may_not_return(id) ? 0 : rec.g);
	rec.goid = g_word(&g, layout.g_goid);
	if (p_changes_hidden())
		rec.p = p_in_syscall(m);
	rec.arg = tick_of_call(&g, rec.g, m, rec.p);
	rec.stack = stack_in_call(&g, MEMBER(regs, REG_FP_MEMBER));
	send(&rec);
}

static __always_inline void watch_entry(const struct pt_regs *regs, long id)
{
	uint64_t began = begin_hit();

	if (!began) {
		remember_call(0); /* its end must not be taken for that of an earlier call */
		return;
	}
	enter_call(regs, id);
	end_hit(began, TIMED_CALLS, TIMED_CALLS_NS);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id)
{
	if (is_target())
		watch_entry(regs, id);
	note_run(CALL_ENTRY);
	return 0;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(sys_enter_backup, struct pt_regs *regs, long id)
{
	if (first_program_skipped(CALL_ENTRY) && is_target())
		watch_entry(regs, id);
	return 0;
}

/*
 * The g at the end of a call whose entry was not seen. After arch_prctl a new thread's TLS holds arbitrary
 * bytes instead of g. That is not counted as a loss.
 */
static __always_inline uint64_t find_g_at_exit(const struct pt_regs *regs)
{
	uint64_t g = g_in_call(regs);
	uint32_t status = 0;

	if (!g || bpf_probe_read_user(&status, sizeof(status), (const void *)(g + layout.g_status)) ||
	    (status & ~GSCAN) != GSYSCALL)
		return 0;
	return g;
}

/*
 * ERESTARTSYS to ERESTART_RESTARTBLOCK (include/linux/errno.h): after a signal, the kernel may start the call
 * again.
 */
static __always_inline bool is_interrupted(long ret)
{
	return ret <= -512 && ret >= -516;
}

static __always_inline void note_interrupted(uint64_t g)
{
	uint32_t tick = 0;

	if (layout.m_syscalltick != LAYOUT_ABSENT &&
	    read_user(&tick, sizeof(tick), m_of_g(g) + layout.m_syscalltick))
		remember_interrupted(g, tick);
}

/* Goroutine id and P are not read: the entry has recorded them. */
static __always_inline void exit_call(const struct pt_regs *regs, long ret)
{
	struct raw_record rec = {.site = SITE_SYS_EXIT, .status = GSYSCALL};

	rec.g = take_call();
	if (!rec.g)
		rec.g = find_g_at_exit(regs);
	if (!rec.g || rec.g == NO_CALL)
		return;
	if (is_interrupted(ret))
		note_interrupted(rec.g);
	rec.arg2 = MEMBER(regs, CALL_MEMBER);
	send(&rec);
}

static __always_inline void watch_exit(const struct pt_regs *regs, long ret)
{
	uint64_t began = begin_hit();

	if (!began)
		return;
	exit_call(regs, ret);
	end_hit(began, TIMED_CALLS, TIMED_CALLS_NS);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	if (is_target())
		watch_exit(regs, ret);
	note_run(CALL_EXIT);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(sys_exit_backup, struct pt_regs *regs, long ret)
{
	if (first_program_skipped(CALL_EXIT) && is_target())
		watch_exit(regs, ret);
	return 0;
}

/* Reads a goroutine in a system call, or about to enter one. */
static __always_inline bool read_caller(struct raw_record *rec, struct go_g *g, uint64_t address)
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
 * entersyscallblock, before its push %rbp: the stack begins with the values that it will save as syscallpc
 * and syscallbp. Up to Go 1.20 there is no such push, and the probe is at its call of casgstatus, when it has
 * saved them.
 */
HIT(syscall_block)
{
	struct raw_record rec = {.site = SITE_SYSCALL_BLOCK};
	struct go_g g;

	if (!read_caller(&rec, &g, this_g(ctx)))
		return;
	if (go_minor >= 21)
		rec.stack = walk_from(return_address(ctx), REG_FP(ctx), g_word(&g, layout.g_stack_hi), 1);
	else
		rec.stack = stack_in_call(&g, REG_FP(ctx));
	send(&rec);
}

/* At the call of entersyscall in cgocall. */
HIT(cgo_enter)
{
	struct raw_record rec = {.site = SITE_CGO_ENTER};
	struct go_g g;

	if (!read_caller(&rec, &g, this_g(ctx)))
		return;
	rec.stack = has_abi0() ? scan_here(ctx, &g, 1)
			       : walk_from(REG_PC(ctx) + CALL_SIZE, REG_FP(ctx),
					   g_word(&g, layout.g_stack_hi), 1);
	send(&rec);
}

/* The stack of the code that called cgocall, from the pc and sp that cgocall saved. */
static __always_inline uint64_t stack_of_cgo_caller(const struct pt_regs *ctx, const uint64_t *args,
						    const struct go_g *g)
{
	uint64_t hi = g_word(g, layout.g_stack_hi), pc = args[0], sp = args[1];

	if (has_abi0())
		return scan_from(pc, sp, hi, 1, 0);
	if (layout.g_syscallbp != LAYOUT_ABSENT)
		return walk_from(pc, args[2], hi, 1);
	if (go_minor > 20)
		return walk_from(REG_PC(ctx) + CALL_SIZE, REG_FP(ctx), hi, 1);
	if (lies_in(pc, places.cgocall, places.cgocall_end))
		return walk_from(pc, sp + places.cgocall_frame, hi, 1);
	return walk_from(pc, 0, hi, 1); /* a thread that C started */
}

/* At the call of reentersyscall(pc, sp) in cgocallbackg; from Go 1.23 on (pc, sp, bp). */
HIT(cgo_return)
{
	struct raw_record rec = {.site = SITE_CGO_RETURN};
	uint64_t args[3];
	struct go_g g;

	if (!call_args(ctx, args, has_abi0() ? 2 : 3) || !read_caller(&rec, &g, this_g(ctx)))
		return;
	rec.stack = stack_of_cgo_caller(ctx, args, &g);
	send(&rec);
}

HIT(cgo_exit)
{
	struct raw_record rec = {.site = SITE_CGO_EXIT};
	struct go_g g;

	if (read_caller(&rec, &g, this_g(ctx)))
		send(&rec);
}

/* At a call of casgstatus(gp, ...). */
static __always_inline void by_casgstatus(struct pt_regs *ctx, uint8_t site)
{
	struct raw_record rec = {.site = site};
	uint64_t args[1];
	struct go_g g;

	if (call_args(ctx, args, 1) && read_caller(&rec, &g, args[0]))
		send(&rec);
}

HIT(exit_no_p)
{
	by_casgstatus(ctx, SITE_EXIT_NO_P);
}

HIT(needm)
{
	c_threads_seen = true;
	by_casgstatus(ctx, SITE_NEEDM);
}

HIT(dropm)
{
	c_threads_seen = true;
	remember_own_m(0);
	by_casgstatus(ctx, SITE_DROPM);
}

#endif
