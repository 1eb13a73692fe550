/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU samples: a software clock of each CPU strikes so and so often a second,
 * and what runs there then is told if it is the target. It costs the target
 * nothing but these interrupts, however often its threads come, go and switch.
 *
 * What a sample holds is what the runtime's profiler would have handed to the
 * tracer (Go 1.22 … 1.26, sigprof in runtime/proc.go). A thread without a g is
 * C's own, and none of the profiler's either.
 */
#ifndef GOTRACE_SAMPLE_BPF_H
#define GOTRACE_SAMPLE_BPF_H

#include "bpf/syscall.bpf.h"

/* Stacks of samples are hashed apart: their first two addresses mean something else. */
#define SAMPLE_STACK 0x100u

/* Where the thread was; then where its stack goes on. */
struct sampled {
	uint64_t pc, sp, bp;
	uint64_t link;   /* where a leaf returns to, on processors with a register for it */
	uint64_t g;      /* of the thread */
	uint64_t caller; /* pcs[1] of a RAW_STACK_SAMPLE */
	uint64_t above;  /* the frame above, if that is known not to be in the chain; else 0 */
	uint64_t hi;     /* of the stack that bp is on */
};

/* What cannot be read costs one sample its stack; the state of the trace does not hang on it. */
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
	return pc >= places.text && pc < places.etext;
}

/*
 * The thread's own registers, also while it is in the kernel. With probed tasks nobody
 * knows where these are: such a sample has no stack.
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
 * A function without a frame (a leaf, or one that is just being entered or
 * left) has left the frame pointer to its caller: the chain begins with the
 * caller's caller, and the caller is the word at the stack pointer, or above
 * the frame pointer that was just pushed; on arm64 it is in the link register. Which it is, the function
 * table knows, and that is user space's.
 */
static __always_inline void guess_caller(struct sampled *at)
{
	uint64_t caller = at->link;
#if defined(__TARGET_ARCH_arm64)
	/* A frame that is being made or taken down: its return address is saved, but the chain is the
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

/* Frames of the kernel's vDSO and of C's until Go's own are reached; few, for C's may be no frames at all. */
static __always_inline void climb_to_go(struct sampled *at)
{
	uint64_t bp = at->bp;

	if (in_go(at->link)) { /* the vDSO's functions need no frame: the frame pointer is that of who called
				*/
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
 * C code that a goroutine called: the stack that led to the call (cgocall, below the frame of asmcgocall).
 * A thread of C's own that has been in Go before has a goroutine too, which called nothing.
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

	if (!is_target() || !places.etext)
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
		if (scan_stacks && in_go(at.pc)) {
			rec.stack = scan_from(at.pc + 1, at.sp, at.hi, SAMPLE_STACK, RAW_STACK_SAMPLE);
			send_or_count(&rec, LOSS_SAMPLE);
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
	send_or_count(&rec, LOSS_SAMPLE);
	return 0;
}

#endif
