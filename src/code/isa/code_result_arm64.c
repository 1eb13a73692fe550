/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds where compiled arm64 code holds a value at a given instruction. */
#include "code/isa/code_ops.h"
#include "code/isa/scan_arm64.h"

#include <errno.h>

enum { MAX_STEPS = 20 };

/* A register's content in terms of values at the start of the walk. */
struct arm64_held {
	enum { HELD_UNKNOWN, HELD_VALUE, HELD_SUM, HELD_ZERO } what;
	struct value_place value, added; /* HELD_SUM: both */
};

static bool arm64_same_place(const struct value_place *one, const struct value_place *two)
{
	return one->on_stack == two->on_stack && one->reg == two->reg && one->slot == two->slot;
}

/* A load from the frame. Loads that restore the frame pointer or link register are not needed. */
static struct arm64_held loaded(const struct arm64_insn *insn)
{
	struct arm64_held slot = {
		.what = HELD_VALUE,
		.value = {.on_stack = 1, .slot = (uint32_t)insn->imm},
	};

	return insn->rn == ARM64_SP && insn->imm >= 0 && !insn->before && !insn->after
		       ? slot
		       : (struct arm64_held){0};
}

static struct arm64_held sum(const struct arm64_held *one, const struct arm64_held *two)
{
	struct arm64_held both = {.what = HELD_SUM, .value = one->value, .added = two->value};

	return one->what == HELD_VALUE && two->what == HELD_VALUE ? both : (struct arm64_held){0};
}

/* Returns false if the instruction cannot be part of a function's end that only returns values. */
static bool arm64_held_follow(struct arm64_held held[ARM64_REGISTERS], const struct arm64_insn *insn)
{
	const struct arm64_held zero = {.what = HELD_ZERO};

	switch (insn->op) {
	case ARM64_MOVE:
		held[insn->rd] = insn->rm == ARM64_SP ? zero : held[insn->rm];
		return true;
	case ARM64_LOAD:
		held[insn->rd] = loaded(insn);
		return true;
	case ARM64_ADD_REG:
		held[insn->rd] = sum(&held[insn->rn], &held[insn->rm]);
		return true;
	case ARM64_LOAD_PAIR:
		held[insn->rd] = held[insn->rm] = (struct arm64_held){0};
		return true;
	case ARM64_ADD:
		return insn->rd == ARM64_SP && insn->rn == ARM64_SP;
	default:
		return insn->op == ARM64_NOP;
	}
}

static int arm64_take_results(const struct arm64_held held[ARM64_REGISTERS], struct value_place *base,
			      struct value_place *added)
{
	const struct arm64_held *first = &held[0], *second = &held[1];

	if (first->what != HELD_VALUE || second->what != HELD_SUM)
		return -ENOENT;
	*base = first->value;
	*added = arm64_same_place(&second->value, base) ? second->added : second->value;
	return arm64_same_place(&second->value, base) || arm64_same_place(&second->added, base) ? 0 : -ENOENT;
}

/* Continues after a jump whose outcome is known; returns false if it is not known. */
static bool go_on(const struct arm64_held held[ARM64_REGISTERS], const struct arm64_insn *insn, size_t *at)
{
	bool zero = held[insn->rd].what == HELD_ZERO;

	if (insn->op == ARM64_B || (insn->op == ARM64_CBZ && zero))
		*at += (size_t)insn->imm;
	else if (insn->op == ARM64_CBNZ && zero)
		*at += ARM64_LENGTH;
	else
		return false;
	return true;
}

int arm64_slice_result(const struct code *code, size_t jump, struct value_place *base,
		       struct value_place *added)
{
	struct arm64_held held[ARM64_REGISTERS] = {{.what = HELD_UNKNOWN}};
	struct arm64_insn insn;
	size_t at = jump;

	for (uint32_t i = 0; i < ARM64_SP; i++)
		held[i] = (struct arm64_held){.what = HELD_VALUE, .value = {.reg = i}};
	if (!arm64_at(code, at, &insn) || !arm64_is_conditional(&insn))
		return -ENOENT;
	/* Follow the jump's outcome for a flag of zero. */
	at += insn.op == ARM64_CBZ || insn.op == ARM64_TBZ ? (size_t)insn.imm : ARM64_LENGTH;
	for (int i = 0; i < MAX_STEPS && arm64_at(code, at, &insn); i++) {
		if (insn.op == ARM64_RET)
			return arm64_take_results(held, base, added);
		if (go_on(held, &insn, &at))
			continue;
		if (!arm64_held_follow(held, &insn))
			break;
		at += ARM64_LENGTH;
	}
	return -ENOENT;
}

int arm64_receiver(const struct code *code, uint64_t callee, uint64_t *variable)
{
	struct arm64_places places = {.known = 0};
	struct arm64_insn insn;

	for (size_t at = 0; arm64_at(code, at, &insn); at += ARM64_LENGTH) {
		if (insn.op == ARM64_BL && arm64_leads_to(code, at, &insn) == callee) {
			*variable = places.at[0];
			return places.variable & 1 ? 0 : -ENOENT;
		}
		arm64_follow(&places, code, at, &insn);
	}
	return -ENOENT;
}
