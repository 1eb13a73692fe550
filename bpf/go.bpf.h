/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads Go's g and m with as few reads as possible. */
#ifndef GOTRACE_GO_BPF_H
#define GOTRACE_GO_BPF_H

#include "bpf/common.bpf.h"

#define GSCAN    0x1000u /* _Gscan, set while the garbage collector scans the stack */
#define GRUNNING 2u      /* _Grunning */
#define GSYSCALL 3u      /* _Gsyscall */

/* Covers g.stack to g.waitreason and g.syncSafePoint in every release: all that a hit needs of g. */
#define G_HEAD 0xe0

struct go_g {
	uint64_t words[G_HEAD / 8];
};

static __always_inline uint64_t g_word(const struct go_g *g, uint32_t offset)
{
	return offset < G_HEAD ? g->words[offset / 8] : 0;
}

static __always_inline uint8_t g_byte(const struct go_g *g, uint32_t offset)
{
	return offset < G_HEAD ? ((const uint8_t *)g->words)[offset] : 0;
}

static __always_inline uint32_t g_status(const struct go_g *g)
{
	uint64_t word = g_word(g, layout.g_status & ~7u);

	return (uint32_t)(word >> (layout.g_status & 4) * 8) & ~GSCAN;
}

static __always_inline bool read_g(struct go_g *g, uint64_t address)
{
	return read_user(g, sizeof(*g), address);
}

/* m.curg and m.p lie within four words of each other in every release, so one read gets both. */
struct go_m {
	uint64_t curg, p;
};

#define M_SPAN 4

static __always_inline bool read_m(struct go_m *m, uint64_t address)
{
	uint64_t words[M_SPAN];
	uint32_t apart = (layout.m_p - layout.m_curg) / 8;

	if (!read_user(words, sizeof(words), address + layout.m_curg))
		return false;
	m->curg = words[0];
	m->p = words[apart < M_SPAN ? apart : 0];
	return true;
}

/*
 * The goroutine that runs a bubble of testing/synctest (its root) fires the bubble's timers on the system
 * stack, and m.curg is 0 meanwhile (synctestRun(), Go 1.25 to 1.27 runtime/synctest.go). Then g0 has the
 * bubble (unlockAndRun() in time.go). Returns the root, or 0 if no goroutine is hidden so.
 */
static __always_inline uint64_t root_of_bubble(uint64_t m_address)
{
	uint64_t bubble, root;

	if (layout.g_bubble == LAYOUT_ABSENT || layout.bubble_root == LAYOUT_ABSENT)
		return 0;
	bubble = read_word(read_word(m_address + layout.m_g0) + layout.g_bubble);
	root = bubble ? read_word(bubble + layout.bubble_root) : 0;
	return root && read_word(root + layout.g_m) == m_address ? root : 0;
}

static __always_inline bool lies_in(uint64_t pc, uint64_t begin, uint64_t end)
{
	return pc - begin < end - begin;
}

/* Up to Go 1.16 arguments are passed on the stack (bpf/abi0.bpf.h). These releases are not supported on
 * arm64. */
static __always_inline bool has_abi0(void)
{
#if defined(__TARGET_ARCH_arm64)
	return false;
#else
	return go_minor <= 16;
#endif
}

/* Not a plain load: the compiler would merge all cases into one load at a variable offset, which the verifier
 * rejects. */
static __always_inline uint64_t reg_value(const struct pt_regs *ctx, uint32_t number)
{
	int offset = reg_offset(number);
	uint64_t value = 0;

	if (offset >= 0)
		bpf_probe_read_kernel(&value, sizeof(value), (const char *)ctx + offset);
	return value;
}

/* The return address of a function that has not made its frame yet. */
static __always_inline uint64_t return_address(const struct pt_regs *ctx)
{
#if defined(__TARGET_ARCH_arm64)
	return REG_LINK(ctx);
#else
	return read_word(REG_SP(ctx));
#endif
}

/* The return address of the function in which morestack stopped g (runtime/asm_arm64.s: g.sched.lr). */
static __always_inline uint64_t return_of_stopped(const struct go_g *g)
{
#if defined(__TARGET_ARCH_arm64)
	return g_word(g, layout.g_sched_bp - 8); /* gobuf: ... lr, bp (Go 1.22 to 1.26 runtime/runtime2.go) */
#else
	return read_word(g_word(g, layout.g_sched_sp));
#endif
}

/* Scheduler code runs on g0, whose m is the thread's M. REG_G holds g in all Go code since 1.17. */
static __always_inline uint64_t m_of_g(uint64_t g)
{
	return read_word(g + layout.g_m);
}

/* The g of the current thread, read from thread-local storage as Go's own code does. 0 for a thread that is
 * not Go's. */
static __always_inline uint64_t thread_g(void)
{
	uint64_t g = 0;
#ifdef THREAD_POINTER
	struct task_struct *task = current_task();

	if (bpf_probe_read_user(&g, sizeof(g),
				(const void *)(MEMBER(task, THREAD_POINTER) + (__s64)layout.tls_g)))
		return 0; /* the thread has not set it up yet */
#endif
	return g;
}

/*
 * As thread_g(), but on arm64 it reads g's register. In user mode without cgo, that always holds g: the only
 * foreign code that Go calls is the vDSO, which preserves the register (runtime/sys_linux_arm64.s).
 */
static __always_inline uint64_t current_g(const struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_arm64)
	return REG_G(regs);
#else
	(void)regs;
	return thread_g();
#endif
}

/*
 * The P of an M in a system call. Up to Go 1.25 m.p is empty and the P that may be retaken is m.oldp; before
 * 1.12 there is no m.oldp, and m.p stays. From 1.26 on m.p is kept until the P is taken, and m.oldp is stale.
 */
static __always_inline uint64_t p_in_syscall(uint64_t m)
{
	uint32_t apart = (layout.m_oldp - layout.m_p) / 8;
	uint64_t words[M_SPAN];

	if (!syscall_oldp || layout.m_oldp == LAYOUT_ABSENT)
		return read_word(m + layout.m_p);
	/* m.nextp lies between the two (Go 1.12 to 1.25 runtime/runtime2.go). */
	if (apart >= M_SPAN || !read_user(words, sizeof(words), m + layout.m_p))
		return 0;
	return words[0] ? words[0] : words[apart];
}

/*
 * Up to Go 1.25 a thread may return from a system call with a P that it has taken from another thread by a
 * bare CAS, and only its next record shows that. In 1.26, too, a C thread that leaves Go with its P still
 * wired (dropm) passes it on so, to the thread that takes its M (needm). In all other cases a P changes hands
 * at a probe, and nothing needs to be read.
 */
volatile bool c_threads_seen; /* needm or dropm was hit */

static __always_inline bool p_changes_hidden(void)
{
	return hidden_p_changes && (go_minor <= 25 || c_threads_seen);
}

static __always_inline uint64_t p_after_hidden_change(uint64_t m)
{
	return p_changes_hidden() ? read_word(m + layout.m_p) : 0;
}

static __always_inline uint32_t p_id(uint64_t p)
{
	uint32_t id = 0;

	read_user(&id, sizeof(id), p + layout.p_id);
	return id;
}

#endif
