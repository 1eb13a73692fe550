/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stack walks by frame pointers, which Go keeps on amd64 and arm64 in every function with a frame. On both a
 * frame record has two words: the caller's frame pointer and the return address. The walk copies the part of
 * the stack that the chain runs through in large chunks, so that it needs one read instead of two per frame.
 */
#ifndef GOTRACE_STACK_BPF_H
#define GOTRACE_STACK_BPF_H

#include "bpf/awaited.bpf.h"
#include "bpf/go.bpf.h"
#include "bpf/scratch.bpf.h"

/* Copies the stack from s->bp on. Returns false if it cannot be read. */
static __always_inline bool fill_chunk(struct scratch *s)
{
	uint64_t bp = s->bp, want = s->hi - bp;

	if (want > CHUNK)
		want = CHUNK;
	barrier_var(want);
	if (want < 16 || want > CHUNK)
		return false;
	s->base = bp;
	s->whole_frames = want / 8 - 1;
	return !bpf_probe_read_user(s->chunk, want, (const void *)bp);
}

/*
 * Copies the stack at the begin of a walk, without the calls that next_chunk() takes. If that fails, the walk
 * tries again and says why.
 */
static __always_inline void fill_first_chunk(struct scratch *s, uint64_t bp)
{
	s->bp = bp;
	if (!bp || bp >= s->hi)
		return;
	if (fill_chunk(s))
		s->chunks = 1;
	else
		s->whole_frames = 0;
}

/* runtime.cgocallback's frame on the goroutine's stack: three words, a frame pointer, a return address. */
#define CALLBACK_FRAME 40

/*
 * Called when the chain has left the goroutine's stack. If it left at a callback from C, the walk continues
 * with asmcgocall, whose frame is where execution left the goroutine's stack: cgocallback made its own frame
 * right below, with the saved g.sched.pc as its return address (Go 1.17 … 1.26 runtime/asm_amd64.s). A C
 * thread has nothing above. Up to Go 1.20 asmcgocall has no frame: its return address, into cgocall, is there
 * instead.
 */
static __always_inline bool cross_callback(struct scratch *s)
{
	/* The stack pointer when asmcgocall left this stack. */
	uint64_t left = s->last_bp + 16 + CALLBACK_FRAME;
	/* words[0]: return address of cgocallback; words[1] on: frame of asmcgocall */
	uint64_t pc = s->last_pc, words[3];

	if (pc < places.cgocallback || pc >= places.cgocallback_end)
		return false;
	if (bpf_probe_read_user(words, sizeof(words), (const void *)(left - 8)))
		return false;
	push_pc(s, words[0]);
	if (go_minor > 20) {
		s->bp = words[2] ? left : 0;
		return true;
	}
	s->bp = 0;
	if (lies_in(words[1], places.cgocall, places.cgocall_end)) {
		push_pc(s, words[1]);
		s->bp = left + 8 + places.cgocall_frame;
	}
	return true;
}

/* If scheduler code was called from the goroutine's stack (systemstack), the chain continues there. */
static __always_inline bool cross_stacks(struct scratch *s)
{
	if (s->bp >= s->other_hi || s->bp < s->other_lo)
		return false;
	s->hi = s->other_hi;
	s->other_hi = 0;
	s->last_bp = 0;
	return true;
}

/* Maximum number of stack chunks in one walk: 24 KiB. The deepest HTTP handlers use a fifth of that. */
#define CHUNKS 6u

/* Called when the next frame is not in the chunk. Reads more, or returns false: the walk ends. */
__noinline int next_chunk(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);

	if (!s)
		return false;
	if ((s->bp <= s->last_bp || s->bp >= s->hi) && !cross_stacks(s)) {
		if (cross_callback(s))
			return true;
		s->flags |= RAW_STACK_BROKEN;
		return false;
	}
	if (++s->chunks > CHUNKS) {
		s->flags |= RAW_STACK_CUT;
		return false;
	}
	if (fill_chunk(s))
		return true;
	s->flags |= RAW_STACK_BROKEN;
	return false;
}

/* Rounds of a whole walk: frames, plus calls of next_chunk between them. */
#define ROUNDS         (STACK_DEPTH + 2 * CHUNKS)
#define ROUNDS_PER_RUN 14u

/* Follows the chain of frame pointers for some frames. Returns false at its end. */
__noinline int walk_some(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);

	if (!s)
		return false;
	for (uint32_t i = 0; i < ROUNDS_PER_RUN; i++) {
		uint64_t bp = s->bp, at = bp - s->base;

		if (!bp)
			return false;
		if (s->n >= STACK_DEPTH || s->n >= most_frames) {
			s->flags |= RAW_STACK_CUT;
			return false;
		}
		at = at >> 3 | at << 61; /* in words; huge if not aligned, or below the chunk */
		if (bp <= s->last_bp || at >= s->whole_frames) {
			if (!next_chunk(SCRATCH_ARG(s)))
				return false;
			continue;
		}
		at &= CHUNK_WORDS - 1;
		s->last_bp = bp;
		s->last_pc = s->chunk[at + 1];
		s->bp = s->chunk[at];
		push_pc(s, s->last_pc);
	}
	return true;
}

/*
 * Follows the whole chain from s->bp on. The verifier checks a loop iteration by iteration, but a global
 * function only once per program, not at each call. So nested short loops take a tenth of the time of one
 * long loop to verify.
 */
__noinline int walk_frames(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);

	if (!s)
		return 0;
	/* Here and not where chunks are read: kernels before 6.13 limit the stacks of nested functions
	 * together. */
	if (s->parked_bp && s->bp) {
		if (!s->whole_frames && !next_chunk(SCRATCH_ARG(s)))
			return 0;
		find_awaited(s);
	}
	for (uint32_t i = 0; i < ROUNDS / ROUNDS_PER_RUN + 1; i++) {
		if (!walk_some(SCRATCH_ARG(s)))
			return 0;
	}
	s->flags |= RAW_STACK_CUT;
	return 0;
}

/*
 * Follows the chain and gives the scratch back. The first chunk has been filled. awaited: NULL, or receives
 * what a goroutine that has parked waits for (AWAITED).
 */
static __always_inline uint64_t end_walk_begun(struct scratch *s, uint8_t skip, uint64_t *awaited)
{
	uint64_t hash;

	if (awaited)
		s->parked_bp = s->bp;
	walk_frames(SCRATCH_ARG(s));
	hash = send_stack_once(s, skip);
	if (awaited)
		*awaited = s->awaited;
	give_back(s);
	return hash;
}

static __always_inline uint64_t end_walk_awaited(struct scratch *s, uint64_t bp, uint8_t skip,
						 uint64_t *awaited)
{
	fill_first_chunk(s, bp);
	return end_walk_begun(s, skip, awaited);
}

static __always_inline uint64_t end_walk(struct scratch *s, uint64_t bp, uint8_t skip)
{
	return end_walk_awaited(s, bp, skip, NULL);
}

/* The stack that begins with pc and continues at bp. */
static __always_inline uint64_t walk_from(uint64_t pc, uint64_t bp, uint64_t hi, uint8_t skip)
{
	struct scratch *s = begin_walk(hi, skip);

	if (!s)
		return 0;
	push_pc(s, pc);
	return end_walk(s, bp, skip);
}

/* The stack above the frame at bp. */
static __always_inline uint64_t walk_callers(uint64_t bp, uint64_t hi)
{
	struct scratch *s = begin_walk(hi, 0);

	return s ? end_walk(s, bp, 0) : 0;
}

/* The stack of a function that has not made its frame yet: pc in it, then its return address. */
static __always_inline uint64_t walk_entry(uint64_t pc, uint64_t ret, uint64_t bp, uint64_t hi)
{
	struct scratch *s = begin_walk(hi, 0);

	if (!s)
		return 0;
	push_pc(s, pc);
	push_pc(s, ret);
	return end_walk(s, bp, 0);
}

/* True if the runtime's tracer records a stack for this skip. Up to Go 1.21 it records none for 0
 * (runtime/trace.go). */
static __always_inline bool has_stack(uint8_t skip)
{
	return skip || go_minor >= 22;
}

/*
 * True if g.sched.bp is the frame above that of g.sched.pc's caller, so that the chain skips the caller. That
 * is so if the goroutine was stopped in morestack (g.syncSafePoint, golang.org/issue/68090), and up to Go
 * 1.20, whose systemstack makes no frame (runtime/asm_amd64.s), whenever the goroutine went to the
 * scheduler's stack through systemstack.
 */
static __always_inline bool hides_caller(const struct go_g *g, uint64_t pc, bool preempted)
{
	if (go_minor > 20)
		return g_byte(g, layout.g_sync_safe_point);
	if (preempted)
		return !lies_in(pc, places.async_preempt, places.async_preempt_end) &&
		       !lies_in(pc, places.goyield, places.goyield_end);
	return lies_in(pc, places.stack_switch, places.stack_switch_end);
}

/*
 * The stack of a goroutine that is not running Go code now, from the same place as traceStack (Go 1.26
 * runtime/tracestack.go): in a system call from g.syscall*, else from g.sched.
 */
static __always_inline uint64_t walk_stopped(const struct go_g *g, uint8_t skip, bool preempted,
					     uint64_t *awaited)
{
	bool in_call = g_word(g, layout.g_syscallsp) != 0 && layout.g_syscallbp != LAYOUT_ABSENT;
	struct scratch *s = begin_walk(g_word(g, layout.g_stack_hi), skip);
	uint64_t pc = g_word(g, in_call ? layout.g_syscallpc : layout.g_sched_pc);

	if (!s)
		return 0;
	push_pc(s, pc);
	if (!in_call && hides_caller(g, pc, preempted))
		push_pc(s, return_of_stopped(g));
	return end_walk_awaited(s, g_word(g, in_call ? layout.g_syscallbp : layout.g_sched_bp), skip,
				awaited);
}

/*
 * As walk_stopped(), in two steps: what is in the frames decides how the stack of a goroutine that has parked
 * is recorded.
 */
static __always_inline struct scratch *begin_parked(const struct go_g *g)
{
	struct scratch *s = begin_walk(g_word(g, layout.g_stack_hi), 0);

	if (s)
		fill_first_chunk(s, g_word(g, layout.g_sched_bp));
	return s;
}

static __always_inline uint64_t end_parked(struct scratch *s, const struct go_g *g, uint8_t skip,
					   uint64_t *awaited)
{
	uint64_t pc = g_word(g, layout.g_sched_pc);

	if (!has_stack(skip)) {
		give_back(s);
		return 0;
	}
	s->hash = stack_hash_begin(skip);
	push_pc(s, pc);
	if (hides_caller(g, pc, false))
		push_pc(s, return_of_stopped(g));
	return end_walk_begun(s, skip, awaited);
}

/*
 * Up to Go 1.22 the frame that called entersyscall is not saved (g.syscallbp exists from 1.23 on). It is the
 * first frame above g.syscallsp in the chain that begins at the thread's own frame pointer. In C code, that
 * register may hold anything, so that a failed read is no loss.
 */
static __always_inline uint64_t frame_above(uint64_t bp, uint64_t sp)
{
	for (uint32_t i = 0; i < 8 && bp && bp < sp; i++) {
		if (bpf_probe_read_user(&bp, sizeof(bp), (const void *)bp))
			return 0;
	}
	return bp;
}

/* Up to Go 1.18 syscall.Syscall and its variants are assembly without a frame (syscall/asm_linux_amd64.s).
 * Their return address is at the stack pointer that entersyscall saved. */
static __always_inline uint64_t walk_over_assembly(const struct go_g *g, uint64_t bp)
{
	uint64_t pc = g_word(g, layout.g_syscallpc);
	struct scratch *s = begin_walk(g_word(g, layout.g_stack_hi), 1);

	if (!s)
		return 0;
	push_pc(s, pc);
	if (lies_in(pc, places.syscalls, places.syscalls_end))
		push_pc(s, read_word(g_word(g, layout.g_syscallsp)));
	return end_walk(s, bp, 1);
}

static __always_inline uint64_t walk_in_call(const struct go_g *g, uint64_t user_bp)
{
	uint64_t bp;

	if (layout.g_syscallbp != LAYOUT_ABSENT)
		return walk_stopped(g, 1, false, NULL);
#if defined(__TARGET_ARCH_arm64)
	/* A frame record begins right below the function's stack pointer (cmd/internal/obj/arm64/obj7.go,
	 * preprocess). */
	(void)user_bp;
	bp = g_word(g, layout.g_syscallsp) - 8;
#else
	bp = frame_above(user_bp, g_word(g, layout.g_syscallsp));
#endif
	if (go_minor <= 18)
		return walk_over_assembly(g, bp);
	return walk_from(g_word(g, layout.g_syscallpc), bp, g_word(g, layout.g_stack_hi), 1);
}

#endif
