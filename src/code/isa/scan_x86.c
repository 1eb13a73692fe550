/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/scan_x86.h"

#include <errno.h>

/* Opcodes of the one-byte map. */
enum {
	OP_XOR_STORE = 0x31,
	OP_XOR_LOAD = 0x33,
	OP_POP = 0x58,
	OP_STORE8 = 0x88,
	OP_STORE = 0x89,
	OP_MOV_IMM = 0xb8, /* + register */
	OP_RET = 0xc3,
	OP_MOV_IMM_RM = 0xc7,
	OP_GROUP5 = 0xff, /* indirect calls and jumps */
};

/*
 * Up to Go 1.7 the linker fills the gap before the next function with zeros. An odd number of them does not
 * decode.
 */
static bool is_gap(const struct code *code, size_t at)
{
	while (at < code->size && !code->bytes[at])
		at++;
	return at == code->size;
}

int x86_next(const struct code *code, size_t *at, struct x86_insn *insn)
{
	if (*at >= code->size)
		return 0;
	if (!x86_decode(code->bytes + *at, code->size - *at, insn))
		return is_gap(code, *at) ? 0 : -EBADMSG;
	*at += insn->length;
	return 1;
}

uint64_t x86_named(const struct code *code, size_t after, int64_t relative)
{
	return code->address + after + (uint64_t)relative;
}

bool x86_leaves_line(const struct x86_insn *insn)
{
	return insn->relative || x86_is_one(insn, OP_GROUP5) || x86_is_one(insn, OP_RET);
}

void x86_forget_constants(int64_t constants[X86_REGISTERS])
{
	for (int i = 0; i < X86_REGISTERS; i++)
		constants[i] = CONSTANT_UNKNOWN;
}

/* Forgets the constants in registers that the instruction may write. */
static void x86_scan_forget_written(int64_t constants[X86_REGISTERS], const struct x86_insn *insn)
{
	bool stores = insn->map == X86_ONE && (insn->opcode == OP_STORE || insn->opcode == OP_STORE8);

	if (x86_is_nop(insn))
		return;
	if (x86_leaves_line(insn)) {
		x86_forget_constants(constants);
		return;
	}
	if (insn->has_modrm && !(stores && insn->mod != 3)) {
		if (!x86_is_one(insn, OP_MOV_IMM_RM)) /* for that opcode, reg is part of the opcode */
			constants[insn->reg] = CONSTANT_UNKNOWN;
		if (insn->mod == 3)
			constants[insn->rm] = CONSTANT_UNKNOWN;
	}
	if (insn->map == X86_ONE && (insn->opcode & ~7) == OP_POP)
		constants[insn->opcode & 7] = CONSTANT_UNKNOWN;
}

static bool clears_register(const struct x86_insn *insn)
{
	return (x86_is_one(insn, OP_XOR_STORE) || x86_is_one(insn, OP_XOR_LOAD)) && insn->mod == 3 &&
	       insn->reg == insn->rm;
}

void x86_follow_constants(int64_t constants[X86_REGISTERS], const struct x86_insn *insn)
{
	x86_scan_forget_written(constants, insn);
	if (insn->map == X86_ONE && (insn->opcode & ~7) == OP_MOV_IMM)
		constants[(insn->opcode & 7) | (insn->rex & 1 ? 8 : 0)] = insn->imm;
	else if (x86_is_one(insn, OP_MOV_IMM_RM) && insn->mod == 3)
		constants[insn->rm] = insn->imm;
	else if (clears_register(insn))
		constants[insn->rm] = 0;
}
