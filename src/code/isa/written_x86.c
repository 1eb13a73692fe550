/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/written_x86.h"

#include <stdbool.h>

/* The register in the r/m operand; X86_WRITES_NONE if that is memory. */
static int rm_register(const struct x86_insn *insn)
{
	return insn->mod == 3 ? insn->rm : X86_WRITES_NONE;
}

/* As x86_written(), for instructions of the two-byte map. */
static int written_0f(const struct x86_insn *insn)
{
	uint8_t op = insn->opcode;

	if (op == 0x1e || op == 0x1f || op == 0x18)
		return X86_WRITES_NONE;
	if ((op >= 0x40 && op <= 0x4f) || op == 0xaf || (op >= 0xb6 && op <= 0xbf && op != 0xba))
		return insn->reg;
	if (op >= 0x90 && op <= 0x9f)
		return rm_register(insn);
	/* SSE; instructions that write a general register never write the stack pointer */
	if ((op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) || (op >= 0x51 && op <= 0x76) ||
	    op == 0x7e || op == 0x7f || op == 0xc6 || op >= 0xd0)
		return X86_WRITES_NONE;
	return X86_WRITES_UNKNOWN;
}

int x86_written(const struct x86_insn *insn)
{
	uint8_t op = insn->opcode;
	int rm = rm_register(insn);

	if (insn->vex)
		return X86_WRITES_NONE; /* BMI instructions never write the stack pointer */
	if (insn->map == X86_0F)
		return written_0f(insn);
	if (insn->map != X86_ONE)
		return X86_WRITES_UNKNOWN;
	if (op < 0x40) {
		if (op >= 0x38)
			return X86_WRITES_NONE; /* cmp */
		return (op & 7) < 2 ? rm : (op & 7) < 4 ? insn->reg : X86_RAX;
	}
	if (op >= 0xb0 && op <= 0xbf)
		return (op & 7) | (insn->rex & 1 ? 8 : 0);
	if (op == 0x90)
		return insn->rex & 1 ? X86_WRITES_UNKNOWN : X86_WRITES_NONE; /* xchg, nop */
	switch (op) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return insn->reg;
	case 0x80:
	case 0x81:
	case 0x83:
		return (insn->reg & 7) == 7 ? X86_WRITES_NONE : rm;
	case 0x84:
	case 0x85:
	case 0xa8:
	case 0xa9:
		return X86_WRITES_NONE;
	case 0x86: /* xchg writes both operands */
	case 0x87:
		return insn->mod == 3 ? X86_WRITES_UNKNOWN : insn->reg;
	case 0x88:
	case 0x89:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return rm;
	case 0x98:
	case 0x99:
		return X86_RDX;
	case 0xf6:
	case 0xf7:
		return (insn->reg & 7) < 2 ? X86_WRITES_NONE : (insn->reg & 7) < 4 ? rm : X86_RDX;
	default:
		return X86_WRITES_UNKNOWN;
	}
}

/* Moves to, from and between SSE registers and memory, and xorps and pxor. Others may write general
 * registers. */
static bool is_sse_only(uint8_t op)
{
	return (op >= 0x10 && op <= 0x17) || op == 0x28 || op == 0x29 || op == 0x57 || op == 0x6f ||
	       op == 0x7f || op == 0xef;
}

uint32_t x86_written_mask(const struct x86_insn *insn)
{
	uint8_t op = insn->opcode;
	int reg = x86_written(insn);

	if (insn->vex || reg == X86_WRITES_UNKNOWN)
		return X86_ALL_REGISTERS;
	if (insn->map == X86_0F && reg == X86_WRITES_NONE && op != 0x1e && op != 0x1f && op != 0x18)
		return is_sse_only(op) ? 0 : X86_ALL_REGISTERS;
	if (insn->map == X86_ONE && (op == 0x98 || op == 0x99 || op == 0xf6 || op == 0xf7))
		return 1u << X86_RAX | 1u << X86_RDX | (reg >= 0 ? 1u << reg : 0);
	return reg >= 0 ? 1u << reg : 0;
}
