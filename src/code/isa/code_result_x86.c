/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds where compiled x86-64 code holds a value at a given instruction, by following the few after it. */
#include "code/isa/code_ops.h"
#include "code/isa/scan_x86.h"

#include <errno.h>

enum { REGISTERS = 16, MAX_STEPS = 16, CONDITION_EQUAL = 4 };

/* A register's content in terms of values at the start of the walk. */
struct x86_held {
	enum { HELD_UNKNOWN, HELD_VALUE, HELD_SUM } what;
	struct value_place value, added; /* HELD_SUM: both */
};

/* Whether the operand is memory at the stack pointer plus a displacement, without an index. */
static bool x86_held_is_slot(const struct x86_insn *insn)
{
	return insn->mod != 3 && (insn->rm & 7) == X86_RSP && !(insn->rex & 3) && insn->sib == 0x24 &&
	       insn->disp >= 0;
}

static bool follow_move(struct x86_held held[REGISTERS], const struct x86_insn *insn)
{
	bool load = x86_is_one(insn, 0x8b);

	if (insn->mod == 3) {
		held[load ? insn->reg : insn->rm] = held[load ? insn->rm : insn->reg];
		return true;
	}
	if (!load || !x86_held_is_slot(insn))
		return false;
	held[insn->reg] = (struct x86_held){
		.what = HELD_VALUE,
		.value = {.on_stack = 1, .slot = (uint32_t)insn->disp},
	};
	return true;
}

/* lea (base, index), register */
static bool follow_sum(struct x86_held held[REGISTERS], const struct x86_insn *insn)
{
	uint8_t base = (uint8_t)((insn->sib & 7) | (insn->rex & 1 ? 8 : 0));
	uint8_t index = (uint8_t)((insn->sib >> 3 & 7) | (insn->rex & 2 ? 8 : 0));
	struct x86_held sum = {.what = HELD_SUM, .value = held[base].value, .added = held[index].value};

	if (insn->mod == 3 || (insn->rm & 7) != X86_RSP || insn->sib >> 6 || insn->disp || index == X86_RSP ||
	    held[base].what != HELD_VALUE || held[index].what != HELD_VALUE)
		return false;
	held[insn->reg] = sum;
	return true;
}

/* Padding, and instructions that remove the frame. */
static bool x86_held_is_idle(const struct x86_insn *insn)
{
	bool grows = (x86_is_one(insn, 0x81) || x86_is_one(insn, 0x83)) && insn->mod == 3 && insn->reg == 0 &&
		     insn->rm == X86_RSP;

	return grows || x86_is_one(insn, 0x5d) || x86_is_nop(insn);
}

static bool x86_held_follow(struct x86_held held[REGISTERS], const struct x86_insn *insn)
{
	if (x86_is_one(insn, 0x89) || x86_is_one(insn, 0x8b))
		return follow_move(held, insn);
	if (x86_is_one(insn, 0x8d))
		return follow_sum(held, insn);
	return x86_held_is_idle(insn);
}

static bool x86_same_place(const struct value_place *one, const struct value_place *two)
{
	return one->on_stack == two->on_stack && one->reg == two->reg && one->slot == two->slot;
}

static int x86_take_results(const struct x86_held held[REGISTERS], struct value_place *base,
			    struct value_place *added)
{
	const struct x86_held *first = &held[X86_RAX], *second = &held[X86_RBX];

	if (first->what != HELD_VALUE || second->what != HELD_SUM)
		return -ENOENT;
	*base = first->value;
	*added = x86_same_place(&second->value, base) ? second->added : second->value;
	return x86_same_place(&second->value, base) || x86_same_place(&second->added, base) ? 0 : -ENOENT;
}

int x86_slice_result(const struct code *code, size_t jump, struct value_place *base,
		     struct value_place *added)
{
	struct x86_held held[REGISTERS] = {{.what = HELD_UNKNOWN}};
	struct x86_insn insn;
	size_t at = jump;

	for (uint32_t i = 0; i < REGISTERS; i++)
		held[i] = (struct x86_held){.what = HELD_VALUE, .value = {.reg = i}};
	if (x86_next(code, &at, &insn) <= 0 || !x86_is_jcc(&insn))
		return -ENOENT;
	if ((insn.opcode & 15) == CONDITION_EQUAL)
		at += (size_t)insn.imm;
	for (int i = 0; i < MAX_STEPS && x86_next(code, &at, &insn) > 0; i++) {
		if (x86_is_one(&insn, 0xc3))
			return x86_take_results(held, base, added);
		if (x86_is_one(&insn, 0xe9) || x86_is_one(&insn, 0xeb))
			at += (size_t)insn.imm;
		else if (!x86_held_follow(held, &insn))
			break;
	}
	return -ENOENT;
}

int x86_receiver(const struct code *code, uint64_t callee, uint64_t *variable)
{
	struct x86_insn insn;
	size_t at = 0;

	*variable = 0;
	while (x86_next(code, &at, &insn) > 0) {
		if (x86_is_one(&insn, 0x8d) && insn.reg == X86_RAX && insn.rip_relative)
			*variable = code->address + at + (uint64_t)(int64_t)insn.disp;
		if (!x86_is_call(&insn))
			continue;
		if (code->address + at + (uint64_t)insn.imm == callee)
			return *variable ? 0 : -ENOENT;
		*variable = 0; /* after a call, RAX holds only its result */
	}
	return -ENOENT;
}
