/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where compiled code has a value at one of its places: followed through the few instructions behind it. */
#include "target/code_x86.h"

#include <errno.h>

enum { REGISTERS = 16, MAX_STEPS = 16, CONDITION_EQUAL = 4 };

/* What a register holds, in terms of the place where the walk began. */
struct held {
	enum { HELD_UNKNOWN, HELD_VALUE, HELD_SUM } what;
	struct value_place value, added; /* HELD_SUM: both */
};

static bool is_one(const struct x86_insn *insn, uint8_t opcode)
{
	return insn->map == X86_ONE && !insn->vex && insn->opcode == opcode;
}

/* Memory at the stack pointer plus a displacement, without an index. */
static bool is_slot(const struct x86_insn *insn)
{
	return insn->mod != 3 && (insn->rm & 7) == X86_RSP && !(insn->rex & 3) && insn->sib == 0x24 &&
	       insn->disp >= 0;
}

static bool follow_move(struct held held[REGISTERS], const struct x86_insn *insn)
{
	bool load = is_one(insn, 0x8b);

	if (insn->mod == 3) {
		held[load ? insn->reg : insn->rm] = held[load ? insn->rm : insn->reg];
		return true;
	}
	if (!load || !is_slot(insn))
		return false;
	held[insn->reg] = (struct held){
		.what = HELD_VALUE,
		.value = {.on_stack = 1, .slot = (uint32_t)insn->disp},
	};
	return true;
}

/* lea (base, index), register */
static bool follow_sum(struct held held[REGISTERS], const struct x86_insn *insn)
{
	uint8_t base = (uint8_t)((insn->sib & 7) | (insn->rex & 1 ? 8 : 0));
	uint8_t index = (uint8_t)((insn->sib >> 3 & 7) | (insn->rex & 2 ? 8 : 0));
	struct held sum = {.what = HELD_SUM, .value = held[base].value, .added = held[index].value};

	if (insn->mod == 3 || (insn->rm & 7) != X86_RSP || insn->sib >> 6 || insn->disp || index == X86_RSP ||
	    held[base].what != HELD_VALUE || held[index].what != HELD_VALUE)
		return false;
	held[insn->reg] = sum;
	return true;
}

/* What makes no difference: padding, and the frame that is taken down. */
static bool is_idle(const struct x86_insn *insn)
{
	bool grows = (is_one(insn, 0x81) || is_one(insn, 0x83)) && insn->mod == 3 && insn->reg == 0 &&
		     insn->rm == X86_RSP;

	return grows || is_one(insn, 0x5d) || (insn->map == X86_0F && insn->opcode == 0x1f) ||
	       (is_one(insn, 0x90) && !(insn->rex & 1));
}

static bool follow(struct held held[REGISTERS], const struct x86_insn *insn)
{
	if (is_one(insn, 0x89) || is_one(insn, 0x8b))
		return follow_move(held, insn);
	if (is_one(insn, 0x8d))
		return follow_sum(held, insn);
	return is_idle(insn);
}

static bool same_place(const struct value_place *one, const struct value_place *two)
{
	return one->on_stack == two->on_stack && one->reg == two->reg && one->slot == two->slot;
}

static int take_results(const struct held held[REGISTERS], struct value_place *base,
			struct value_place *added)
{
	const struct held *first = &held[X86_RAX], *second = &held[X86_RBX];

	if (first->what != HELD_VALUE || second->what != HELD_SUM)
		return -ENOENT;
	*base = first->value;
	*added = same_place(&second->value, base) ? second->added : second->value;
	return same_place(&second->value, base) || same_place(&second->added, base) ? 0 : -ENOENT;
}

int x86_slice_result(const struct code *code, size_t jump, struct value_place *base,
		     struct value_place *added)
{
	struct held held[REGISTERS] = {{.what = HELD_UNKNOWN}};
	struct x86_insn insn;
	size_t at = jump;

	for (uint32_t i = 0; i < REGISTERS; i++)
		held[i] = (struct held){.what = HELD_VALUE, .value = {.reg = i}};
	if (code_next(code, &at, &insn) <= 0 || !x86_is_jcc(&insn))
		return -ENOENT;
	if ((insn.opcode & 15) == CONDITION_EQUAL)
		at += (size_t)insn.imm;
	for (int i = 0; i < MAX_STEPS && code_next(code, &at, &insn) > 0; i++) {
		if (is_one(&insn, 0xc3))
			return take_results(held, base, added);
		if (is_one(&insn, 0xe9) || is_one(&insn, 0xeb))
			at += (size_t)insn.imm;
		else if (!follow(held, &insn))
			break;
	}
	return -ENOENT;
}

int x86_receiver(const struct code *code, uint64_t callee, uint64_t *variable)
{
	struct x86_insn insn;
	size_t at = 0;

	*variable = 0;
	while (code_next(code, &at, &insn) > 0) {
		if (is_one(&insn, 0x8d) && insn.reg == X86_RAX && insn.rip_relative)
			*variable = code->address + at + (uint64_t)(int64_t)insn.disp;
		if (!x86_is_call(&insn))
			continue;
		if (code->address + at + (uint64_t)insn.imm == callee)
			return *variable ? 0 : -ENOENT;
		*variable = 0; /* a call leaves nothing in RAX but its result */
	}
	return -ENOENT;
}
