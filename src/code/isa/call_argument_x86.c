/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/call_argument.h"

#include <errno.h>

#include "code/isa/scan_x86.h"
#include "code/isa/written_x86.h"

enum {
	MAX_SLOTS = 16,   /* stack slots written on the way */
	MAX_STEPS = 64,   /* instructions on a path */
	MAX_BRANCHES = 4, /* conditional jumps on a path */
	OP_STORE8 = 0x88,
	OP_STORE = 0x89,
	OP_MOVZX = 0xb6, /* of the 0f map */
	OP_LOAD = 0x8b,
	OP_MOV_IMM = 0xb8, /* + register */
	OP_XOR = 0x31,
	OP_JMP = 0xe9,
	OP_JMP_SHORT = 0xeb,
};

/* What registers and stack slots hold, in terms of what they held at the jump. */
struct x86_values {
	struct value_origin registers[X86_REGISTERS];
	struct {
		int32_t slot;
		struct value_origin origin;
	} slots[MAX_SLOTS];
	unsigned nslots;
};

struct x86_walk {
	const struct code *code;
	uint64_t callee;
	uint8_t reg;
};

static bool x86_value_is_slot(const struct x86_insn *insn)
{
	return insn->mod != 3 && (insn->rm & 7) == X86_RSP && !(insn->rex & 3) && insn->sib == 0x24 &&
	       insn->disp >= 0;
}

/* A byte, as the upper part is not part of the value. */
static bool is_movzx(const struct x86_insn *insn)
{
	return insn->map == X86_0F && !insn->vex && insn->opcode == OP_MOVZX;
}

static struct value_origin slot_origin(const struct x86_values *values, int32_t slot)
{
	for (unsigned i = values->nslots; i > 0; i--) {
		if (values->slots[i - 1].slot == slot)
			return values->slots[i - 1].origin;
	}
	return (struct value_origin){.kind = ORIGIN_SLOT, .number = (uint32_t)slot};
}

/* Returns false if there are too many slots. */
static bool store_slot(struct x86_values *values, int32_t slot, struct value_origin origin)
{
	if (values->nslots == MAX_SLOTS)
		return false;
	values->slots[values->nslots].slot = slot;
	values->slots[values->nslots++].origin = origin;
	return true;
}

static void x86_values_forget_written(struct x86_values *values, const struct x86_insn *insn)
{
	uint32_t mask = x86_is_call(insn) ? X86_ALL_REGISTERS : x86_written_mask(insn);

	for (unsigned i = 0; i < X86_REGISTERS; i++) {
		if (mask >> i & 1)
			values->registers[i].kind = ORIGIN_UNKNOWN;
	}
}

/* Follows one instruction that does not jump. Returns false if the values are lost. */
static bool x86_values_follow(struct x86_values *values, const struct x86_insn *insn)
{
	bool load = x86_is_one(insn, OP_LOAD) || is_movzx(insn);
	bool store = x86_is_one(insn, OP_STORE) || x86_is_one(insn, OP_STORE8);
	struct value_origin origin = {.kind = ORIGIN_UNKNOWN};

	if (store && x86_value_is_slot(insn))
		return store_slot(values, insn->disp, values->registers[insn->reg]);
	if ((load || store) && insn->mod == 3) {
		values->registers[load ? insn->reg : insn->rm] =
			values->registers[load ? insn->rm : insn->reg];
		return true;
	}
	if (load && x86_value_is_slot(insn)) {
		values->registers[insn->reg] = slot_origin(values, insn->disp);
		return true;
	}
	x86_values_forget_written(values, insn);
	origin.kind = ORIGIN_CONSTANT;
	if (insn->map == X86_ONE && (insn->opcode & ~7) == OP_MOV_IMM) {
		origin.constant = insn->imm;
		values->registers[(insn->opcode & 7) | (insn->rex & 1 ? 8 : 0)] = origin;
	} else if (x86_is_one(insn, OP_XOR) && insn->mod == 3 && insn->reg == insn->rm) {
		values->registers[insn->rm] = origin;
	}
	return true;
}

/* Walks from `at` to the call; where a branch is possible, tries both ways. */
static int x86_values_walk(const struct x86_walk *to, size_t at, struct x86_values values, unsigned branches,
			   struct value_origin *origin)
{
	struct x86_insn insn;

	for (int i = 0; i < MAX_STEPS && x86_next(to->code, &at, &insn) > 0; i++) {
		if (x86_is_call(&insn) && x86_named(to->code, at, insn.imm) == to->callee) {
			*origin = values.registers[to->reg];
			return origin->kind == ORIGIN_UNKNOWN ? -ENOENT : 0;
		}
		if (x86_is_jcc(&insn)) {
			if (branches == MAX_BRANCHES)
				return -ENOENT;
			return x86_values_walk(to, at, values, branches + 1, origin) == 0
				       ? 0
				       : x86_values_walk(to, at + (size_t)insn.imm, values, branches + 1,
							 origin);
		}
		if (x86_is_one(&insn, OP_JMP) || x86_is_one(&insn, OP_JMP_SHORT))
			at += (size_t)insn.imm;
		else if (!x86_is_call(&insn) && x86_leaves_line(&insn))
			return -ENOENT;
		else if (!x86_values_follow(&values, &insn))
			return -ENOENT;
	}
	return -ENOENT;
}

int code_call_argument(const struct code *code, size_t jump, uint64_t callee, uint8_t reg,
		       struct value_origin *origin)
{
	const struct x86_walk to = {.code = code, .callee = callee, .reg = reg};
	struct x86_values values = {.nslots = 0};

	if (code->arm64)
		return -ENOENT;
	for (uint32_t i = 0; i < X86_REGISTERS; i++)
		values.registers[i] = (struct value_origin){.kind = ORIGIN_REGISTER, .number = i};
	return x86_values_walk(&to, jump, values, 0, origin);
}
