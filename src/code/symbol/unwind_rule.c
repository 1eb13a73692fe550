/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/cfi_section.h"

/* The rule's part for rbp; false if no rule expresses it. */
static bool rbp_part(const struct cfi_saved *rbp, uint32_t *part)
{
	switch (rbp->place) {
	case CFI_SAME:
	case CFI_UNDEFINED: /* no caller needs it */
		*part = UNWIND_RBP_SAME;
		return true;
	case CFI_AT_RBP:
		*part = UNWIND_RBP_AT_RBP;
		return true;
	case CFI_AT_CFA:
		if (rbp->offset >= 0 || rbp->offset % 8 || rbp->offset < -8 * (int64_t)UNWIND_RBP_LAST)
			return false;
		*part = (uint32_t)(-rbp->offset / 8);
		return true;
	default:
		return false;
	}
}

static enum unwind_kind unwind_kind_of_state(const struct cfi_state *state)
{
	switch (state->kind) {
	case CFA_REGISTER:
		return state->reg == cfi_amd64.sp   ? UNWIND_SP
		       : state->reg == cfi_amd64.fp ? UNWIND_BP
						    : UNWIND_NONE;
	case CFA_RBP_DEREF:
		return UNWIND_BP_DEREF;
	case CFA_RSP_DEREF:
		return UNWIND_SP_DEREF;
	case CFA_PLT:
		return UNWIND_PLT;
	default:
		return UNWIND_NONE;
	}
}

static uint32_t rule_of_amd64(const struct cfi_state *state, bool is_signal)
{
	enum unwind_kind kind = unwind_kind_of_state(state);
	int64_t offset = state->offset;
	uint32_t rbp;

	if (state->ra.place == CFI_UNDEFINED)
		return UNWIND_END;
	if (is_signal)
		return state->kind == CFA_UCONTEXT ? UNWIND_SIGNAL : UNWIND_NONE;
	if (kind == UNWIND_SP && state->ra.place == CFI_IN_LINK)
		kind = UNWIND_SP_LINK;
	else if (state->ra.place != CFI_AT_CFA || state->ra.offset != -8)
		return UNWIND_NONE;
	if (kind == UNWIND_NONE || !rbp_part(&state->fp, &rbp))
		return UNWIND_NONE;
	if (kind != UNWIND_PLT) {
		if (offset % 8 || offset / 8 > UNWIND_OFFSET_MAX || offset / 8 < -UNWIND_OFFSET_MAX)
			return UNWIND_NONE;
		offset /= 8;
	}
	return UNWIND_RULE(kind, rbp, offset);
}

/* Converts bytes to words; false if the rule's field cannot hold the number. */
static bool in_words(int64_t bytes, int64_t most, uint32_t *words)
{
	*words = (uint32_t)(bytes / 8);
	return bytes >= 0 && bytes % 8 == 0 && bytes / 8 <= most;
}

#define MAX_WORDS 1023

/* ra, fp: bytes below the CFA at which return address and frame pointer are saved. fp = 0: not saved. */
static uint32_t rule_of_saved(const struct cfi_state *state, int64_t ra, int64_t fp)
{
	bool pair = fp == ra + 8, by_sp = state->reg == cfi_arm64.sp;
	int64_t offset = state->offset / 8;
	uint32_t n, m;

	if (pair && by_sp && in_words(fp, MAX_WORDS, &n))
		return UNWIND_RULE(UNWIND_SP_PAIR, n, offset);
	if (pair && in_words(state->offset - fp, MAX_WORDS, &n))
		return UNWIND_RULE(by_sp ? UNWIND_SP_FRAME : UNWIND_FP_FRAME, n, offset);
	if (!fp && by_sp && in_words(ra, MAX_WORDS, &n))
		return UNWIND_RULE(UNWIND_SP_ALONE, n, offset);
	if (fp && by_sp && in_words(ra, 31, &n) && in_words(fp, 31, &m))
		return UNWIND_RULE(UNWIND_SP_APART, UNWIND_APART(n, m), offset);
	return UNWIND_NONE;
}

/*
 * Rule for cfi_arm64. The kernel's vDSO describes the interrupted frame of a signal by x29
 * (arch/arm64/kernel/vdso/sigreturn.S).
 */
static uint32_t rule_of_arm64(const struct cfi_state *state, bool is_signal)
{
	bool by_sp = state->reg == cfi_arm64.sp, by_fp = state->reg == cfi_arm64.fp;
	int64_t offset = state->offset;

	if (state->ra.place == CFI_UNDEFINED)
		return UNWIND_END;
	if (state->kind != CFA_REGISTER || (!by_sp && !by_fp) || offset < 0 || offset % 8 ||
	    offset / 8 > UNWIND_OFFSET_MAX)
		return UNWIND_NONE;
	if (is_signal)
		return by_fp && !offset ? UNWIND_SIGNAL : UNWIND_NONE;
	if (state->ra.place == CFI_IN_LINK || state->ra.place == CFI_SAME)
		return by_sp && state->fp.place == CFI_SAME ? UNWIND_RULE(UNWIND_SP_LINK, 0, offset / 8)
							    : UNWIND_NONE;
	if (state->ra.place != CFI_AT_CFA || state->ra.offset >= 0)
		return UNWIND_NONE;
	if (state->fp.place == CFI_AT_CFA && state->fp.offset < 0)
		return rule_of_saved(state, -state->ra.offset, -state->fp.offset);
	return state->fp.place == CFI_SAME ? rule_of_saved(state, -state->ra.offset, 0) : UNWIND_NONE;
}

uint32_t unwind_rule_of(const struct cfi_registers *registers, const struct cfi_state *state, bool is_signal)
{
	return registers == &cfi_arm64 ? rule_of_arm64(state, is_signal) : rule_of_amd64(state, is_signal);
}
