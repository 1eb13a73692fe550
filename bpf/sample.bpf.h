/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU samples: a per-CPU software clock fires; a sample is emitted if the target is running. The cost to the
 * target is only these interrupts, however often its threads start, end and switch.
 *
 * A sample holds the data that the runtime's profiler would pass to the tracer (Go 1.22 … 1.26, sigprof in
 * runtime/proc.go). A thread without a g is a C thread; the runtime's profiler does not report those either.
 */
#ifndef GOTRACE_SAMPLE_BPF_H
#define GOTRACE_SAMPLE_BPF_H

#include "bpf/syscall.bpf.h"

/* Stacks of samples are hashed separately, because their first two addresses have a special meaning. */
#define SAMPLE_STACK 0x100u

/* Where the thread was, and where its stack continues. */
struct sampled {
	uint64_t pc, sp, bp;
	uint64_t link;   /* a leaf's return address, on architectures with a link register */
	uint64_t g;      /* of the thread */
	uint64_t caller; /* pcs[1] of a RAW_STACK_SAMPLE */
	uint64_t above;  /* the next frame up, if known not to be in the chain; else 0 */
	uint64_t hi;     /* of the stack that bp is on */
};

/* Reads without counting a loss: an unreadable word costs one sample its stack, and does not affect the state
 * of the trace. */
static __always_inline bool peek(void *to, uint32_t size, uint64_t address)
{
	return !bpf_probe_read_user(to, size, (const void *)address);
}

static __always_inline bool peek_m(struct go_m *m, uint64_t address)
{
	return peek(&m->curg, sizeof(m->curg), address + layout.m_curg) &&
	       peek(&m->p, sizeof(m->p), address + layout.m_p);
}

static __always_inline bool in_go(uint64_t pc)
{
	return (pc >= places.text && pc < places.etext) || in_plugin(pc, PLUGIN_COPIES);
}

/*
 * The thread's user-mode registers, even while it is in the kernel. With probed tasks their address is not
 * known, and such a sample has no stack.
 */
static __always_inline bool user_registers(struct sampled *at, struct bpf_perf_event_data *ctx)
{
	const struct pt_regs *regs;

	if (!probed_tasks) {
		regs = (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
		at->pc = REG_PC(regs);
		at->sp = REG_SP(regs);
		at->bp = REG_FP(regs);
		at->link = REG_LINK(regs);
		at->g = current_g(regs);
		return true;
	}
	at->pc = REG_PC(&ctx->regs);
	at->sp = REG_SP(&ctx->regs);
	at->bp = REG_FP(&ctx->regs);
	at->link = REG_LINK(&ctx->regs);
	at->g = current_g((const struct pt_regs *)&ctx->regs);
	return IS_USER_MODE(&ctx->regs);
}

/*
 * A function without a frame (a leaf, or one being entered or left) has the frame pointer of its caller, so
 * the chain begins with the caller's caller. The caller is the word at the stack pointer, or the one above
 * the frame pointer that was just pushed; on arm64 it is in the link register. The function table shows
 * which, and only user space has it.
 */
static __always_inline void guess_caller(struct sampled *at)
{
	uint64_t caller = at->link;
#if defined(__TARGET_ARCH_arm64)
	/* A frame is being made or torn down: its return address is saved, but the chain is still the
	 * caller's. */
	if (at->bp != at->sp - 8 && peek(&at->above, sizeof(at->above), at->sp) && !in_go(at->above))
		at->above = 0;
#else
	uint64_t words[2] = {0};

	peek(words, sizeof(words), at->sp);
	caller = words[0] == at->bp ? words[1] : words[0];
#endif
	at->caller = in_go(caller) ? caller : 0;
	at->pc++;
}

/* Follows frames of the vDSO and of C until it reaches Go's. It follows only a few, since C need not keep
 * frame pointers. */
static __always_inline void climb_to_go(struct sampled *at)
{
	uint64_t bp = at->bp;

	if (in_go(at->link)) { /* the vDSO's functions make no frame: the frame pointer is their caller's */
		at->pc = at->link;
		return;
	}
	at->pc++;
	at->bp = 0;
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t words[2];

		if (!peek(words, sizeof(words), bp))
			return;
		bp = words[0];
		if (!in_go(words[1]))
			continue;
		at->pc = words[1];
		at->bp = bp;
		return;
	}
}

/*
 * The goroutine called C: uses the stack that led to the call (cgocall, below the frame of asmcgocall). A C
 * thread that has been in Go before has a goroutine, too, but that goroutine made no call.
 */
static __always_inline void leave_c(struct sampled *at, const struct go_g *curg)
{
	uint64_t frame = g_word(curg, layout.g_sched_bp);

	at->bp = 0;
	at->hi = g_word(curg, layout.g_stack_hi);
	if (frame && peek(&at->bp, sizeof(at->bp), frame) && at->bp)
		at->pc = g_word(curg, layout.g_syscallpc);
	else
		at->pc++;
}

static __always_inline uint64_t stack_of_sample(const struct sampled *at, const struct go_g *curg)
{
	struct scratch *s = begin_walk(at->hi, SAMPLE_STACK);

	if (!s)
		return 0;
	s->flags = RAW_STACK_SAMPLE;
	s->other_lo = g_word(curg, layout.g_stack_lo);
	if (at->hi != g_word(curg, layout.g_stack_hi))
		s->other_hi = g_word(curg, layout.g_stack_hi);
	push_pc(s, at->pc);
	push_pc(s, at->caller);
	if (at->above)
		push_pc(s, at->above);
	return end_walk(s, at->bp, 0);
}

SEC("?perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	struct raw_record rec = {.site = SITE_CPU_SAMPLE};
	struct sampled at = {0};
	struct go_g curg = {0};
	uint64_t g, m_address = 0;
	struct go_m m;
	bool known;

	if (!is_target() || !places.etext || !begin_hit())
		return 0;
	known = user_registers(&at, ctx);
	g = at.g;
	if (!g)
		return 0;
	if (!peek(&m_address, sizeof(m_address), g + layout.g_m) || !m_address || !peek_m(&m, m_address) ||
	    !peek(&at.hi, sizeof(at.hi), g + layout.g_stack_hi) ||
	    (m.curg && !peek(&curg, sizeof(curg), m.curg))) {
		count_loss(LOSS_SAMPLE);
		return 0;
	}
	rec.g = m.curg;
	rec.goid = g_word(&curg, layout.g_goid);
	rec.p = m.p;
	if (known) {
		if (has_abi0() && in_go(at.pc)) {
			rec.stack = scan_from(at.pc + 1, at.sp, at.hi, SAMPLE_STACK, RAW_STACK_SAMPLE);
			send(&rec);
			return 0;
		}
		if (in_go(at.pc))
			guess_caller(&at);
		else if (m.curg && g != m.curg && g_status(&curg) == GSYSCALL)
			leave_c(&at, &curg);
		else
			climb_to_go(&at);
		rec.stack = stack_of_sample(&at, &curg);
	}
	send(&rec);
	return 0;
}

#endif
