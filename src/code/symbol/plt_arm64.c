/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/plt_arm64.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* The effect of an instruction. */
enum effect { NOTHING, SAVES_LINK, SAVES_OTHERS, LEAVES, UNKNOWN };

struct instruction {
	uint32_t mask, word;
	enum effect effect;
};

/* Encodings: Arm ARM, C6.2. */
static const struct instruction instructions[] = {
	{0xffffffff, 0xd503245f, NOTHING},      /* bti c */
	{0xffffffff, 0xd503201f, NOTHING},      /* nop */
	{0xffffffff, 0xd503219f, NOTHING},      /* autia1716 */
	{0x9f00001f, 0x90000010, NOTHING},      /* adrp x16, PAGE */
	{0xffc003ff, 0xf9400211, NOTHING},      /* ldr x17, [x16, #N] */
	{0xffc003ff, 0x91000210, NOTHING},      /* add x16, x16, #N */
	{0x9f00001e, 0x90000002, NOTHING},      /* adrp x2, PAGE; x3 */
	{0xffc003ff, 0xf9400042, NOTHING},      /* ldr x2, [x2, #N] */
	{0xffc003ff, 0x91000063, NOTHING},      /* add x3, x3, #N */
	{0xffffffff, 0xa9bf7bf0, SAVES_LINK},   /* stp x16, x30, [sp, #-16]! */
	{0xffffffff, 0xa9bf0fe2, SAVES_OTHERS}, /* stp x2, x3, [sp, #-16]! */
	{0xffffffff, 0xd61f0220, LEAVES},       /* br x17 */
	{0xffffffff, 0xd61f0040, LEAVES},       /* br x2 */
};

static enum effect effect_at(const uint8_t *code, size_t i)
{
	uint32_t word;

	memcpy(&word, code + 4 * i, sizeof(word));
	for (size_t k = 0; k < sizeof(instructions) / sizeof(instructions[0]); k++) {
		if ((word & instructions[k].mask) == instructions[k].word)
			return instructions[k].effect;
	}
	return UNKNOWN;
}

/* Indexes of instructions. */
struct plt_entry {
	bool known;
	size_t pushed; /* after the instruction that moves the stack pointer; `end` if there is none */
	size_t end;    /* after the branch, or the end of the table */
	uint32_t rule; /* from `pushed` on */
};

/* Reads up to the next branch. An unknown instruction makes the whole entry unknown. */
static struct plt_entry read_entry(const uint8_t *code, size_t n, size_t first)
{
	struct plt_entry entry = {.known = true};
	enum effect effect = NOTHING;
	size_t i = first;

	while (i < n && effect != LEAVES) {
		effect = effect_at(code, i++);
		if (effect == UNKNOWN)
			entry.known = false;
		if (effect != SAVES_LINK && effect != SAVES_OTHERS)
			continue;
		entry.known = entry.known && !entry.pushed;
		entry.pushed = i;
		entry.rule = effect == SAVES_LINK ? UNWIND_RULE(UNWIND_SP_ALONE, 1, 2)
						  : UNWIND_RULE(UNWIND_SP_LINK, 0, 2);
	}
	entry.end = i;
	entry.known = entry.known && effect == LEAVES;
	if (!entry.pushed)
		entry.pushed = i;
	return entry;
}

int plt_arm64_add(struct ehframe_spans *spans, const uint8_t *code, size_t size, uint64_t address)
{
	struct plt_entry entry;
	int rc = 0;

	for (size_t i = 0; i < size / 4 && rc == 0; i = entry.end) {
		entry = read_entry(code, size / 4, i);
		if (!entry.known)
			continue;
		rc = ehframe_spans_add(spans, address + 4 * i, address + 4 * entry.pushed,
				       UNWIND_RULE(UNWIND_SP_LINK, 0, 0));
		if (rc == 0)
			rc = ehframe_spans_add(spans, address + 4 * entry.pushed, address + 4 * entry.end,
					       entry.rule);
	}
	return rc;
}
