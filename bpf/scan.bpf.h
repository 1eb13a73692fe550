/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stack scans, for releases whose frame pointers are not reliable. Go 1.4 to 1.6 keep none, 1.7 to 1.13 lose
 * them in nanotime and walltime (runtime/sys_linux_amd64.s). Up to 1.20 the runtime's own tracer walks by the
 * compiler's tables, so its stacks include frames that the chain skips (systemstack's caller, the caller of a
 * function stopped in its prologue).
 *
 * The unwinder needs only the return addresses and their positions. So every word that points into Go's code
 * is kept with its position, and user space selects the return addresses by the frame sizes
 * (code/symbol/scan.h). Other words, which change all the time, are left out, so that the same stack has the
 * same hash each time.
 */
#ifndef GOTRACE_SCAN_BPF_H
#define GOTRACE_SCAN_BPF_H

#include "bpf/stack.bpf.h"

/* Set by capture. */
const volatile bool wait_reason_text;                   /* up to Go 1.10: g.waitreason is a string */
const volatile struct wait_text wait_texts[WAIT_TEXTS]; /* all its values, by number */

#define WORDS_PER_RUN 64u
#define SCAN_RUNS     (CHUNK_WORDS / WORDS_PER_RUN)

/* Scans some words of the chunk. Returns false at its end, or if the stack is cut. */
__noinline int scan_some(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	uint64_t text, size, from;

	if (!s)
		return false;
	text = places.text;
	size = places.etext - text;
	from = s->n_scanned;
	for (uint32_t i = 0; i < WORDS_PER_RUN; i++) {
		uint64_t at = from + i;
		uint64_t word = s->chunk[at & (CHUNK_WORDS - 1)];

		if (at >= s->whole_frames)
			return false;
		if (word - text >= size)
			continue;
		if (s->n >= SCAN_DEPTH) {
			s->flags |= RAW_STACK_CUT;
			return false;
		}
		push_pc(s, (s->first_word + at) << SCAN_SHIFT | word);
	}
	s->n_scanned = from + WORDS_PER_RUN;
	return true;
}

/* Maximum number of stack chunks in one scan. */
#define SCAN_CHUNKS 4u

/* Scans the words from s->bp to the end of the stack. */
__noinline int scan_words(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);

	if (!s)
		return 0;
	for (uint32_t i = 0; i < SCAN_CHUNKS; i++) {
		if (s->hi - s->bp < 16 || s->hi <= s->bp)
			return 0;
		if (!fill_chunk(s)) {
			s->flags |= RAW_STACK_BROKEN;
			return 0;
		}
		if (s->parked_bp)
			find_awaited(s);
		s->whole_frames++; /* any word can be an address, including the last */
		s->n_scanned = 0;
		for (uint32_t run = 0; run < SCAN_RUNS; run++) {
			if (!scan_some(SCRATCH_ARG(s)))
				break;
		}
		if (s->flags & RAW_STACK_CUT)
			return 0;
		s->first_word += CHUNK_WORDS;
		s->bp += CHUNK;
	}
	if (s->hi > s->bp)
		s->flags |= RAW_STACK_CUT;
	return 0;
}

/*
 * The stack whose leaf is pc and whose callers' frames begin at sp. awaited: NULL, or receives what a
 * goroutine that has parked waits for (AWAITED), if gopark's frame is at parked_bp.
 */
static __always_inline uint64_t scan_awaited(uint64_t pc, uint64_t sp, uint64_t hi, uint32_t skip,
					     uint64_t flags, uint64_t parked_bp, uint64_t *awaited)
{
	struct scratch *s = begin_walk(hi, SCANNED_STACK | skip);
	uint64_t hash;

	if (!s)
		return 0;
	s->flags = flags | RAW_STACK_SCAN;
	s->first_word = 0;
	s->bp = sp;
	s->parked_bp = parked_bp;
	push_pc(s, pc);
	scan_words(SCRATCH_ARG(s));
	hash = send_stack_once(s, (uint8_t)skip);
	if (awaited)
		*awaited = s->awaited;
	give_back(s);
	return hash;
}

static __always_inline uint64_t scan_from(uint64_t pc, uint64_t sp, uint64_t hi, uint32_t skip,
					  uint64_t flags)
{
	return scan_awaited(pc, sp, hi, skip, flags, 0, NULL);
}

/*
 * The stack from the probed code, whose frame is set up. Two frames replace its leaf: `callee`, the call
 * within the tracer's function, and its caller `call`, the call of that function; 0 = none.
 */
static __always_inline uint64_t scan_trace_call(const struct pt_regs *ctx, uint64_t hi, uint64_t callee,
						uint64_t call)
{
	struct scratch *s = begin_walk(hi, SCANNED_STACK);
	uint64_t hash;

	if (!s)
		return 0;
	s->flags = RAW_STACK_SCAN;
	s->first_word = 0;
	s->bp = REG_SP(ctx);
	push_pc(s, REG_PC(ctx) + 1);
	if (callee)
		push_pc(s, SCAN_FRAME | callee);
	if (call)
		push_pc(s, SCAN_FRAME | call);
	scan_words(SCRATCH_ARG(s));
	hash = send_stack_once(s, 0);
	give_back(s);
	return hash;
}

/* As walk_stopped(): from where the system call was entered if g is in one, else from where g left its
 * thread. */
static __always_inline uint64_t scan_g(const struct go_g *g, uint8_t skip, uint64_t *awaited)
{
	bool in_call = g_word(g, layout.g_syscallsp) != 0;

	return scan_awaited(g_word(g, in_call ? layout.g_syscallpc : layout.g_sched_pc),
			    g_word(g, in_call ? layout.g_syscallsp : layout.g_sched_sp),
			    g_word(g, layout.g_stack_hi), skip, 0, awaited ? g_word(g, layout.g_sched_bp) : 0,
			    awaited);
}

/* The stack of the probed code, which g is running. Its leaf is the instruction at ip. */
static __always_inline uint64_t scan_here(const struct pt_regs *ctx, const struct go_g *g, uint8_t skip)
{
	return scan_from(REG_PC(ctx) + 1, REG_SP(ctx), g_word(g, layout.g_stack_hi), skip, 0);
}

#endif
