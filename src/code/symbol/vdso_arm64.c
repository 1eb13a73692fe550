/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/vdso_arm64.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Arm ARM, C6.2: stp and ldp of 64-bit registers, with the offset in words in bits 15 to 21. */
#define FRAME_MASK  0xffc07fffu
#define MAKES_FRAME 0xa9807bfdu /* stp x29, x30, [sp, #-N]! */
#define ENDS_FRAME  0xa8c07bfdu /* ldp x29, x30, [sp], #N */

#define RET 0xd65f03c0u /* the frame has been removed before it */

/* The return address of a signal handler (arch/arm64/kernel/vdso/sigreturn.S). An unwinder looks up the nop
 * before it. */
#define NOP          0xd503201fu
#define SIGRETURN_NR 0xd2801168u /* mov x8, #__NR_rt_sigreturn */
#define SVC          0xd4000001u

static uint32_t vdso_word_at(const uint8_t *code, size_t i)
{
	uint32_t word;

	memcpy(&word, code + 4 * i, sizeof(word));
	return word;
}

static bool is_sigreturn(const uint8_t *code, size_t n, size_t i)
{
	return i + 1 < n && vdso_word_at(code, i) == SIGRETURN_NR && vdso_word_at(code, i + 1) == SVC;
}

/*
 * Finds the rules of instructions, in reverse order. There is no frame after the instruction that removes it;
 * there is one from there back to the instruction that made it. So the target of a jump has the frame of the
 * exit that it runs into.
 */
static void find_rules(const uint8_t *code, size_t n, uint32_t *rules)
{
	const uint32_t leaf = UNWIND_RULE(UNWIND_SP_LINK, 0, 0);
	uint32_t rule = leaf;

	for (size_t i = n; i-- > 0;) {
		uint32_t word = vdso_word_at(code, i), words = word >> 15 & 0x7f;

		if ((word & FRAME_MASK) == ENDS_FRAME && words < 64)
			rule = UNWIND_RULE(UNWIND_SP_FRAME, 0, (int32_t)words);
		else if ((word & FRAME_MASK) == MAKES_FRAME || word == RET)
			rule = leaf;
		rules[i] = rule;
		if (is_sigreturn(code, n, i)) {
			rules[i] = rules[i + 1] = UNWIND_SIGNAL;
		} else if (word == NOP && i + 1 < n && rules[i + 1] == UNWIND_SIGNAL) {
			rules[i] = UNWIND_SIGNAL;
		}
	}
}

int vdso_arm64_rows(const uint8_t *code, size_t size, uint64_t address, uint64_t base,
		    struct ehframe_rows *rows)
{
	size_t n = size / 4;
	uint32_t *rules = malloc(n * sizeof(*rules) + 1);
	uint32_t last = UNWIND_NONE;

	*rows = (struct ehframe_rows){
		.rows = malloc((n + 2) * sizeof(*rows->rows)), .known = size, .functions = 1};
	if (!rules || !rows->rows) {
		free(rules);
		ehframe_free(rows);
		return -ENOMEM;
	}
	find_rules(code, n, rules);
	rows->rows[rows->n++] = (struct unwind_row){0, last};
	for (size_t i = 0; i < n; i++) {
		if (rules[i] == last)
			continue;
		last = rules[i];
		if (!i && address == base)
			rows->n = 0;
		rows->rows[rows->n++] = (struct unwind_row){(uint32_t)(address - base + 4 * i), last};
	}
	free(rules);
	return 0;
}
