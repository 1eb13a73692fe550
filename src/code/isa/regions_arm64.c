/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Regions in arm64 code (Go 1.22 to 1.27). */
#include "code/isa/code_ops.h"
#include "code/isa/scan_arm64.h"

#include <errno.h>
#include <string.h>

/* Limit on instructions between a comparison and its jump. */
#define MAX_BETWEEN 8
/* StartRegion(ctx, type): x0 to x3. */
#define ARGUMENTS 0xfu

/* Finds `ldar flag; cbz`. Instructions before it must not change the arguments. */
static int arm64_region_find_jump(const struct code *code, struct start_region *start)
{
	struct arm64_places places = {.known = 0};
	struct arm64_insn insn;
	uint32_t flags = 0; /* registers that hold a variable of 32 bits */
	uint64_t address;

	for (size_t at = 0; arm64_at(code, at, &insn); at += ARM64_LENGTH) {
		bool zero = insn.op == ARM64_CBZ || insn.op == ARM64_CBNZ;
		uint32_t changes = arm64_changes(&insn);

		if (zero && flags >> insn.rd & 1) {
			start->jump = at;
			start->flag_register = insn.rd;
			return 0;
		}
		if (changes & ARGUMENTS)
			break;
		flags &= ~changes;
		if (insn.op == ARM64_LOAD_ACQUIRE && insn.size == 4 &&
		    arm64_accessed(&places, &insn, &address))
			flags |= 1u << insn.rd;
		arm64_follow(&places, code, at, &insn);
	}
	return -ENOENT;
}

/* Whether the code only removes the frame and returns. */
static bool arm64_returns(const struct code *code, size_t at)
{
	struct arm64_insn insn = {0};

	for (; arm64_at(code, at, &insn) && insn.op != ARM64_RET; at += ARM64_LENGTH) {
		bool frame = (insn.op == ARM64_LOAD_PAIR || insn.op == ARM64_LOAD) && insn.rn == ARM64_SP &&
			     insn.rd >= ARM64_FP;
		bool grows = insn.op == ARM64_ADD && insn.rd == ARM64_SP;

		if (!frame && !grows && insn.op != ARM64_NOP)
			return false;
	}
	return insn.op == ARM64_RET;
}

/* Whether the register is compared, as in a type assertion. */
static bool arm64_is_compared(const struct code *code, size_t at, uint8_t reg)
{
	struct arm64_insn insn = {0};

	while (arm64_at(code, at, &insn) && insn.op == ARM64_NOP)
		at += ARM64_LENGTH;
	return insn.op == ARM64_CMP_REG && (insn.rn == reg || insn.rm == reg);
}

/* The first type is that of the key, which ctx.Value takes as its second argument. */
static void arm64_region_take_type(const struct code *code, size_t after, uint8_t reg, uint64_t type,
				   struct start_region *start)
{
	if (!start->task_key_type && reg == 1)
		start->task_key_type = type;
	else if (start->task_key_type && !start->task_type && arm64_is_compared(code, after, reg))
		start->task_type = type;
}

int arm64_region_start(const struct code *code, struct start_region *start)
{
	struct arm64_places places = {.known = 0};
	struct arm64_insn insn;
	uint64_t address;

	*start = (struct start_region){0};
	if (arm64_region_find_jump(code, start))
		return -ENOENT;
	for (size_t at = 0; arm64_at(code, at, &insn); at += ARM64_LENGTH) {
		bool gives = insn.op == ARM64_LOAD && insn.size == 8 && insn.rd == 0;

		if (gives && arm64_accessed(&places, &insn, &address) &&
		    arm64_returns(code, at + ARM64_LENGTH))
			start->noop = address;
		arm64_follow(&places, code, at, &insn);
		if (insn.op == ARM64_ADD && places.variable >> insn.rd & 1)
			arm64_region_take_type(code, at + ARM64_LENGTH, insn.rd, places.at[insn.rd], start);
	}
	return start->noop && start->task_key_type && start->task_type ? 0 : -ENOENT;
}

/* Finds a comparison with reg and its conditional jump. Arguments may be loaded in between. */
static bool arm64_region_jump_behind(const struct code *text, size_t at, uint8_t reg, size_t *jump)
{
	struct arm64_insn insn;
	bool compared = false;

	for (int i = 0; i < MAX_BETWEEN && arm64_at(text, at, &insn); i++, at += ARM64_LENGTH) {
		if (insn.op == ARM64_B_COND) {
			*jump = at;
			return compared && insn.condition <= ARM64_NE;
		}
		if (insn.op >= ARM64_B || insn.op == ARM64_CMP || (compared && insn.op == ARM64_CMP_REG) ||
		    insn.op == ARM64_UNKNOWN || insn.op == ARM64_OTHER)
			return false;
		if (insn.op == ARM64_CMP_REG)
			compared = insn.wide && (insn.rn == reg || insn.rm == reg);
		if (!compared && arm64_changes(&insn) >> reg & 1)
			return false;
	}
	return false;
}

/* Finds the use of the variable that follows an adrp with its page. */
static bool arm64_uses_variable(const struct code *text, size_t at, uint64_t variable,
				struct arm64_insn *user)
{
	struct arm64_places places = {.known = 0};
	struct arm64_insn insn;
	uint64_t address;

	if (!arm64_at(text, at, &insn) || insn.op != ARM64_ADRP || !arm64_at(text, at + ARM64_LENGTH, user))
		return false;
	arm64_follow(&places, text, at, &insn);
	if (arm64_accessed(&places, user, &address))
		return address == variable;
	arm64_follow(&places, text, at + ARM64_LENGTH, user);
	return user->op == ARM64_ADD && places.variable >> user->rd & 1 && places.at[user->rd] == variable;
}

enum region_use arm64_region_next_use(const struct code *text, uint64_t noop, size_t *at, size_t *use,
				      size_t *jump)
{
	struct arm64_insn insn;

	for (size_t i = (*at + 3) & ~(size_t)3; i + 2 * ARM64_LENGTH <= text->size; i += ARM64_LENGTH) {
		if (!arm64_uses_variable(text, i, noop, &insn))
			continue;
		*use = i;
		*at = i + 2 * ARM64_LENGTH;
		if (insn.op == ARM64_LOAD && insn.size == 8 &&
		    arm64_region_jump_behind(text, *at, insn.rd, jump))
			return REGION_USE_END;
		return REGION_USE_OTHER;
	}
	*at = text->size;
	return REGION_USE_NONE;
}
