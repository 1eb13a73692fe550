/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lookup of a rule and one step of a walk, for both sides. See bpf/unwind.h. */
#ifndef GOTRACE_UNWIND_STEP_H
#define GOTRACE_UNWIND_STEP_H

#include "bpf/unwind.h"

#define UNWIND_INLINE static inline __attribute__((always_inline))

/* Iterations of a binary search over this many elements. */
#define UNWIND_MAPPING_STEPS 13 /* UNWIND_MAPPINGS_A_SPACE */
#define UNWIND_ROW_STEPS     9  /* UNWIND_PAGE_ROWS */

/* Finds the mapping that contains pc. */
UNWIND_INLINE const struct unwind_mapping *unwind_mapping_of(void *where, uint32_t first, uint32_t count,
							     uint64_t pc)
{
	uint32_t end = first + count;

	for (uint32_t i = 0; i < UNWIND_MAPPING_STEPS && first < end; i++) {
		uint32_t middle = first + (end - first) / 2;
		const struct unwind_mapping *mapping = unwind_mapping_at(where, middle);

		if (!mapping)
			break;
		if (pc < mapping->start)
			end = middle;
		else if (pc >= mapping->end)
			first = middle + 1;
		else
			return mapping;
	}
	return (const struct unwind_mapping *)0;
}

/* Finds the rule of the last of `count` rows, starting with `first`, that begins at or before `at`. */
UNWIND_INLINE uint32_t unwind_rule_among(void *where, uint32_t first, uint32_t count, uint32_t at)
{
	uint32_t end = first + count, rule = UNWIND_NONE;

	for (uint32_t i = 0; i < UNWIND_ROW_STEPS && first < end; i++) {
		uint32_t middle = first + (end - first) / 2;
		const struct unwind_row *row = unwind_row_at(where, middle);

		if (!row)
			break;
		if (at < row->start) {
			end = middle;
		} else {
			rule = row->rule;
			first = middle + 1;
		}
	}
	return rule;
}

/* Returns the rule for the instruction that contains pc. */
UNWIND_INLINE uint32_t unwind_rule_at(void *where, struct unwind_space space, uint64_t pc)
{
	const struct unwind_mapping *mapping = unwind_mapping_of(where, space.first, space.count, pc);
	const struct unwind_page *page;
	uint64_t at;

	if (!mapping)
		return UNWIND_NOWHERE;
	if (mapping->pages == UNWIND_CHAINED)
		return UNWIND_RULE(UNWIND_CHAIN, 0, 0);
	at = pc - mapping->base;
	if (at >> UNWIND_PAGE_SHIFT >= mapping->pages)
		return UNWIND_NONE;
	page = unwind_page_at(where, mapping->page + (uint32_t)(at >> UNWIND_PAGE_SHIFT));
	return page ? unwind_rule_among(where, page->first, page->count, (uint32_t)at) : UNWIND_NONE;
}

/*
 * On amd64 only vfork keeps its return address in a register, because the child overwrites the memory below
 * the stack pointer.
 */
UNWIND_INLINE enum unwind_result unwind_step_link(uint32_t rule, struct unwind_regs *regs)
{
	regs->ip = regs->link;
	regs->sp += (uint64_t)(long)UNWIND_OFFSET(rule) * 8;
	regs->link = 0;
	return regs->ip ? UNWIND_MORE : UNWIND_BROKEN;
}

#if !UNWIND_IS_ARM64

/* Whether a step by this rule depends on regs->bp. It may hold anything in code that has no frame pointer. */
UNWIND_INLINE _Bool unwind_uses_bp(uint32_t rule)
{
	uint32_t kind = UNWIND_KIND(rule);

	return kind == UNWIND_BP || kind == UNWIND_BP_DEREF || kind == UNWIND_CHAIN ||
	       UNWIND_RBP(rule) == UNWIND_RBP_AT_RBP;
}

/* Whether it reads the caller's bp, in its last read but one, and only for the caller. */
UNWIND_INLINE _Bool unwind_restores_bp(uint32_t rule)
{
	return UNWIND_RBP(rule) && UNWIND_KIND(rule) != UNWIND_CHAIN;
}

UNWIND_INLINE enum unwind_result unwind_step_signal(void *where, struct unwind_regs *regs)
{
	uint64_t at = regs->sp;

	if (!unwind_read(where, at + UNWIND_UCONTEXT_RBP, &regs->bp) ||
	    !unwind_read(where, at + UNWIND_UCONTEXT_RSP, &regs->sp) ||
	    !unwind_read(where, at + UNWIND_UCONTEXT_RIP, &regs->ip))
		return UNWIND_BROKEN;
	regs->ip++;
	return UNWIND_MORE;
}

UNWIND_INLINE _Bool unwind_cfa(void *where, uint32_t rule, const struct unwind_regs *regs, uint64_t *cfa)
{
	uint64_t offset = (uint64_t)(long)UNWIND_OFFSET(rule) * 8;

	switch (UNWIND_KIND(rule)) {
	case UNWIND_SP:
		*cfa = regs->sp + offset;
		return 1;
	case UNWIND_BP:
		*cfa = regs->bp + offset;
		return 1;
	case UNWIND_CHAIN:
		*cfa = regs->bp + 16;
		return 1;
	case UNWIND_BP_DEREF:
		return unwind_read(where, regs->bp + offset, cfa);
	case UNWIND_SP_DEREF:
		if (!unwind_read(where, regs->sp + offset, cfa))
			return 0;
		*cfa += 8;
		return 1;
	case UNWIND_PLT:
		*cfa = regs->sp + 8;
		if (((regs->ip - 1) & 15) >= (uint64_t)UNWIND_OFFSET(rule))
			*cfa += 8;
		return 1;
	default:
		return 0;
	}
}

/*
 * Gets the frame from which a chain continues: bp, or the one right above its slot. runtime/cgo's crosscall2,
 * through which C calls Go, makes one frame for the C caller and one for itself, without a return address
 * between them (Go 1.21 to 1.26 runtime/cgo/asm_amd64.s, abi_amd64.h). Frames of two functions cannot be
 * adjacent like that.
 */
UNWIND_INLINE _Bool unwind_chain_frame(void *where, uint64_t *bp)
{
	uint64_t saved;

	if (!unwind_read(where, *bp, &saved))
		return 0;
	if (saved == *bp + 8)
		*bp = saved;
	return 1;
}

/* Goes from a frame to its caller's. If that fails, regs are undefined. */
UNWIND_INLINE enum unwind_result unwind_step(void *where, uint32_t rule, struct unwind_regs *regs)
{
	uint32_t kind = UNWIND_KIND(rule), rbp = UNWIND_RBP(rule);
	uint64_t cfa, bp = regs->bp;

	if (kind == UNWIND_END || (kind == UNWIND_CHAIN && !bp))
		return UNWIND_WHOLE;
	if (kind == UNWIND_SIGNAL)
		return unwind_step_signal(where, regs);
	if (kind == UNWIND_SP_LINK)
		return unwind_step_link(rule, regs);
	regs->link = 0;
	if (kind == UNWIND_CHAIN && !unwind_chain_frame(where, &regs->bp))
		return UNWIND_BROKEN;
	/* A caller's frame is at a higher address: every step except out of a signal frame must move up. */
	if (!unwind_cfa(where, rule, regs, &cfa) || cfa & 7)
		return UNWIND_BROKEN;
	if (cfa <= regs->sp && (kind != UNWIND_CHAIN || regs->sp - cfa < UNWIND_STACKS_APART))
		return UNWIND_BROKEN;
	if (kind == UNWIND_CHAIN)
		rbp = 2;
	/* Read the lower word first, so that the other is in the same copy. */
	if (rbp && !unwind_read(where, rbp == UNWIND_RBP_AT_RBP ? bp : cfa - 8ull * rbp, &regs->bp))
		return UNWIND_BROKEN;
	if (!unwind_read(where, cfa - 8, &regs->ip))
		return UNWIND_BROKEN;
	regs->sp = cfa;
	return regs->ip ? UNWIND_MORE : UNWIND_WHOLE;
}

#else

UNWIND_INLINE _Bool unwind_uses_bp(uint32_t rule)
{
	return UNWIND_KIND(rule) == UNWIND_FP_FRAME || UNWIND_KIND(rule) == UNWIND_CHAIN;
}

UNWIND_INLINE _Bool unwind_restores_bp(uint32_t rule)
{
	switch (UNWIND_KIND(rule)) {
	case UNWIND_SP_PAIR:
	case UNWIND_SP_FRAME:
	case UNWIND_FP_FRAME:
	case UNWIND_SP_APART:
		return 1;
	default:
		return 0;
	}
}

UNWIND_INLINE enum unwind_result unwind_step_signal(void *where, struct unwind_regs *regs)
{
	uint64_t at = regs->sp;

	if (!unwind_read(where, at + UNWIND_ARM64_X29, &regs->bp) ||
	    !unwind_read(where, at + UNWIND_ARM64_X30, &regs->link) ||
	    !unwind_read(where, at + UNWIND_ARM64_SP, &regs->sp) ||
	    !unwind_read(where, at + UNWIND_ARM64_PC, &regs->ip))
		return UNWIND_BROKEN;
	regs->link = UNWIND_ADDRESS(regs->link);
	regs->ip++;
	return UNWIND_MORE;
}

/* Finds where the frame pointer and the return address are saved. *fp = 0: x29 is still the caller's. */
UNWIND_INLINE _Bool unwind_places(uint32_t rule, const struct unwind_regs *regs, uint64_t cfa, uint64_t *fp,
				  uint64_t *ra)
{
	uint32_t n = UNWIND_RBP(rule);

	switch (UNWIND_KIND(rule)) {
	case UNWIND_SP_PAIR:
		*fp = cfa - 8ull * n;
		break;
	case UNWIND_SP_FRAME:
		*fp = regs->sp + 8ull * n;
		break;
	case UNWIND_FP_FRAME:
		*fp = regs->bp + 8ull * n;
		break;
	case UNWIND_CHAIN:
		*fp = regs->bp;
		break;
	case UNWIND_SP_ALONE:
		*fp = 0;
		*ra = cfa - 8ull * n;
		return 1;
	case UNWIND_SP_APART:
		*fp = cfa - 8ull * UNWIND_APART_FP(n);
		*ra = cfa - 8ull * UNWIND_APART_RA(n);
		return 1;
	default:
		return 0;
	}
	*ra = *fp + 8;
	return 1;
}

/*
 * Goes from a frame to its caller's, as for amd64. If only the chain is known, the caller's stack pointer is
 * not: most compilers put the pair at the lower end of a frame, where x29 then points, but the Procedure Call
 * Standard for the Arm 64-bit Architecture, 6.2.3, does not require it.
 */
UNWIND_INLINE enum unwind_result unwind_step(void *where, uint32_t rule, struct unwind_regs *regs)
{
	uint32_t kind = UNWIND_KIND(rule);
	uint64_t cfa, fp, ra;

	if (kind == UNWIND_END || (kind == UNWIND_CHAIN && !regs->bp))
		return UNWIND_WHOLE;
	if (kind == UNWIND_SIGNAL)
		return unwind_step_signal(where, regs);
	if (kind == UNWIND_SP_LINK)
		return unwind_step_link(rule, regs);
	regs->link = 0;
	cfa = (kind == UNWIND_FP_FRAME ? regs->bp : regs->sp) + (uint64_t)(long)UNWIND_OFFSET(rule) * 8;
	if (kind == UNWIND_CHAIN)
		cfa = regs->bp + 16;
	if (cfa & 7 || !unwind_places(rule, regs, cfa, &fp, &ra))
		return UNWIND_BROKEN;
	if (cfa <= regs->sp && (kind != UNWIND_CHAIN || regs->sp - cfa < UNWIND_STACKS_APART))
		return UNWIND_BROKEN;
	if (fp && !unwind_read(where, fp, &regs->bp))
		return UNWIND_BROKEN;
	if (!unwind_read(where, ra, &regs->ip))
		return UNWIND_BROKEN;
	regs->ip = UNWIND_ADDRESS(regs->ip);
	regs->sp = kind == UNWIND_CHAIN && regs->bp > cfa ? regs->bp : cfa;
	return regs->ip ? UNWIND_MORE : UNWIND_WHOLE;
}

#endif

#endif
