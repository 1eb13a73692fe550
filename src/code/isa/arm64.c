/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/arm64.h"

#include <string.h>

/* Arm Architecture Reference Manual (DDI 0487), C4.1: A64 instruction set encoding. */

static uint32_t arm64_field(uint32_t word, unsigned low, unsigned width)
{
	return word >> low & ((1u << width) - 1);
}

/* Sign-extended. */
static int64_t signed_field(uint32_t word, unsigned low, unsigned width)
{
	int64_t value = arm64_field(word, low, width);

	return value - (arm64_field(word, low + width - 1, 1) ? (int64_t)1 << width : 0);
}

static uint64_t ones(unsigned n)
{
	return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

/* --- immediates --- */

static bool addresses(uint32_t word, struct arm64_insn *insn)
{
	int64_t imm = (int64_t)((uint64_t)signed_field(word, 5, 19) << 2 | arm64_field(word, 29, 2));
	bool page = word >> 31;

	insn->op = page ? ARM64_ADRP : ARM64_ADR;
	insn->wide = true;
	insn->imm = page ? (int64_t)((uint64_t)imm << 12) : imm;
	return true;
}

/* add and sub with an immediate. adds is not needed; subs only as a comparison. */
static bool add_immediate(uint32_t word, struct arm64_insn *insn)
{
	bool subtracts = word >> 30 & 1, flags = word >> 29 & 1;

	insn->rn = (uint8_t)arm64_field(word, 5, 5);
	insn->imm = (int64_t)arm64_field(word, 10, 12) << (word >> 22 & 1 ? 12 : 0);
	if (flags && (!subtracts || insn->rd != ARM64_SP))
		return false;
	insn->op = flags ? ARM64_CMP : subtracts ? ARM64_SUB : ARM64_ADD;
	return true;
}

/* DecodeBitMasks (C5, shared pseudocode): a repeated pattern, which is a rotated run of ones. */
static bool bit_mask(uint32_t word, bool wide, uint64_t *mask)
{
	unsigned n = arm64_field(word, 22, 1), rotate = arm64_field(word, 16, 6),
		 run = arm64_field(word, 10, 6), width = 64;
	uint64_t element;

	if (!n) {
		width = 32;
		while (width > 1 && arm64_field(~run, 0, 6) < width)
			width /= 2;
		if (width < 2)
			return false;
	} else if (!wide) {
		return false;
	}
	run &= width - 1;
	rotate &= width - 1;
	if (run == width - 1)
		return false;
	element = ones(run + 1);
	if (rotate)
		element = (element >> rotate | element << (width - rotate)) & ones(width);
	for (*mask = element; width < 64; width *= 2)
		*mask |= *mask << width;
	if (!wide)
		*mask = (uint32_t)*mask;
	return true;
}

/* `orr rd, zr, #mask` loads a constant. */
static bool constant_mask(uint32_t word, struct arm64_insn *insn)
{
	uint64_t mask;

	if (arm64_field(word, 29, 2) != 1 || arm64_field(word, 5, 5) != 31 ||
	    !bit_mask(word, insn->wide, &mask))
		return false;
	insn->op = ARM64_CONSTANT;
	insn->imm = (int64_t)mask;
	return true;
}

/* movz and movn. movk keeps part of the register and is not decoded. */
static bool move_wide(uint32_t word, struct arm64_insn *insn)
{
	uint64_t value = (uint64_t)arm64_field(word, 5, 16) << 16 * arm64_field(word, 21, 2);

	if (arm64_field(word, 29, 2) == 0)
		value = ~value;
	else if (arm64_field(word, 29, 2) != 2)
		return false;
	if (!insn->wide && word >> 22 & 1)
		return false;
	insn->op = ARM64_CONSTANT;
	insn->imm = (int64_t)(insn->wide ? value : (uint32_t)value);
	return true;
}

static bool immediates(uint32_t word, struct arm64_insn *insn)
{
	switch (arm64_field(word, 23, 3)) {
	case 0:
	case 1:
		return addresses(word, insn);
	case 2:
		return add_immediate(word, insn);
	case 4:
		return constant_mask(word, insn);
	case 5:
		return move_wide(word, insn);
	default:
		return false;
	}
}

/* --- jumps --- */

static bool jump_if(uint32_t word, struct arm64_insn *insn)
{
	bool bit = word >> 25 & 1, other = word >> 24 & 1;

	insn->rd = (uint8_t)arm64_field(word, 0, 5);
	if (bit) {
		insn->op = other ? ARM64_TBNZ : ARM64_TBZ;
		insn->bit = (uint8_t)(arm64_field(word, 31, 1) << 5 | arm64_field(word, 19, 5));
		insn->imm = signed_field(word, 5, 14) * 4;
	} else {
		insn->op = other ? ARM64_CBNZ : ARM64_CBZ;
		insn->wide = word >> 31;
		insn->imm = signed_field(word, 5, 19) * 4;
	}
	return true;
}

static bool jump_register(uint32_t word, struct arm64_insn *insn)
{
	static const uint8_t ops[] = {ARM64_BR, ARM64_BLR, ARM64_RET};
	uint32_t which = arm64_field(word, 21, 4);

	if ((word & 0xfe1ffc1f) != 0xd61f0000 || which >= sizeof(ops))
		return false;
	insn->op = ops[which];
	insn->rn = (uint8_t)arm64_field(word, 5, 5);
	return true;
}

static bool jumps(uint32_t word, struct arm64_insn *insn)
{
	insn->rd = 0;
	insn->wide = false;
	if ((word & 0x7c000000) == 0x14000000) {
		insn->op = word >> 31 ? ARM64_BL : ARM64_B;
		insn->imm = signed_field(word, 0, 26) * 4;
		return true;
	}
	if ((word & 0x7c000000) == 0x34000000)
		return jump_if(word, insn);
	if ((word & 0xff000000) == 0x54000000) { /* also bc.cond, which only adds a hint */
		insn->op = ARM64_B_COND;
		insn->condition = (uint8_t)arm64_field(word, 0, 4);
		insn->imm = signed_field(word, 5, 19) * 4;
		return true;
	}
	/*
	 * Hints: nop, yield, bti, ... except those that sign addresses: 24 to 31 (paciasp), and 7 (xpaclri).
	 */
	if ((word & 0xfffff01f) == 0xd503201f && arm64_field(word, 5, 7) <= 6) {
		insn->op = ARM64_NOP;
		return true;
	}
	return jump_register(word, insn);
}

/* --- registers --- */

static bool registers(uint32_t word, struct arm64_insn *insn)
{
	bool shifted = (word & 0x1f200000) == 0x0b000000, extended = (word & 0x1fe00000) == 0x0b200000;

	insn->rn = (uint8_t)arm64_field(word, 5, 5);
	insn->rm = (uint8_t)arm64_field(word, 16, 5);
	if ((word & 0x7fe0ffe0) == 0x2a0003e0) {
		insn->op = ARM64_MOVE;
		return true;
	}
	if (!shifted && !extended)
		return false;
	/* sub of registers is needed only as a comparison. Its second register may be extended by uxtx. */
	if (arm64_field(word, 29, 2) == 3 && insn->rd == 31 &&
	    (extended ? arm64_field(word, 10, 6) == 030
		      : arm64_field(word, 10, 6) == 0 && arm64_field(word, 22, 2) == 0)) {
		insn->op = ARM64_CMP_REG;
		return true;
	}
	if (arm64_field(word, 29, 2) || !shifted || arm64_field(word, 10, 6) || arm64_field(word, 22, 2))
		return false;
	insn->op = ARM64_ADD_REG;
	return true;
}

/* --- memory --- */

static bool arm64_pair(uint32_t word, struct arm64_insn *insn)
{
	unsigned how = arm64_field(word, 23, 2), kind = arm64_field(word, 30, 2);

	if (how == 0 || (kind != 0 && kind != 2))
		return false; /* non-temporal, sign-extended, with tags */
	insn->op = word >> 22 & 1 ? ARM64_LOAD_PAIR : ARM64_STORE_PAIR;
	insn->size = kind == 2 ? 8 : 4;
	insn->wide = kind == 2;
	insn->rm = (uint8_t)arm64_field(word, 10, 5);
	insn->imm = signed_field(word, 15, 7) * insn->size;
	insn->before = how == 3;
	insn->after = how == 1;
	return true;
}

/* Loads may sign-extend; `how` 3 with 8 bytes is a prefetch. */
static bool access(uint32_t word, struct arm64_insn *insn)
{
	unsigned scale = arm64_field(word, 30, 2), how = arm64_field(word, 22, 2),
		 mode = arm64_field(word, 10, 2);
	bool index = word >> 21 & 1;

	if (how >= 2 && scale + how >= 5)
		return false;
	insn->op = how ? ARM64_LOAD : ARM64_STORE;
	insn->size = (uint8_t)(1u << scale);
	insn->wide = scale == 3 || how == 2;
	if (word >> 24 & 1) {
		insn->imm = (int64_t)arm64_field(word, 10, 12) << scale;
	} else if (index && mode == 2) {
		insn->op = how ? ARM64_LOAD_INDEX : ARM64_STORE_INDEX;
		insn->rm = (uint8_t)arm64_field(word, 16, 5);
	} else if (index || mode == 2) {
		return false;
	} else {
		insn->imm = signed_field(word, 12, 9);
		insn->before = mode == 3;
		insn->after = mode == 1;
	}
	return true;
}

static bool memory(uint32_t word, struct arm64_insn *insn)
{
	insn->rn = (uint8_t)arm64_field(word, 5, 5);
	if (word >> 26 & 1)
		return false; /* vector registers */
	if ((word & 0x3a000000) == 0x28000000)
		return arm64_pair(word, insn);
	if ((word & 0x3a000000) == 0x38000000)
		return access(word, insn);
	if ((word & 0x3fbffc00) == 0x089ffc00) {
		insn->op = word >> 22 & 1 ? ARM64_LOAD_ACQUIRE : ARM64_STORE_RELEASE;
		insn->size = (uint8_t)(1u << arm64_field(word, 30, 2));
		insn->wide = insn->size == 8;
		return true;
	}
	if ((word & 0xbf000000) == 0x18000000) {
		insn->op = ARM64_LOAD_LITERAL;
		insn->size = word >> 30 & 1 ? 8 : 4;
		insn->wide = insn->size == 8;
		insn->imm = signed_field(word, 5, 19) * 4;
		return true;
	}
	return false;
}

/* Data processing with immediates, registers or vectors: writes only rd. */
static bool is_data(uint32_t group)
{
	return (group & 14) == 8 || (group & 7) == 5 || (group & 7) == 7;
}

/* Exclusive and atomic accesses, and accesses of vectors: may change any register in the instruction. */
static struct arm64_insn other_access(uint32_t word)
{
	uint32_t named = 1u << arm64_field(word, 0, 5) | 1u << arm64_field(word, 5, 5) |
			 1u << arm64_field(word, 10, 5) | 1u << arm64_field(word, 16, 5);

	return (struct arm64_insn){.op = ARM64_OTHER_ACCESS, .imm = named};
}

static struct arm64_insn decode_other(uint32_t word, uint32_t group)
{
	if (is_data(group))
		return (struct arm64_insn){.op = ARM64_OTHER, .rd = (uint8_t)arm64_field(word, 0, 5)};
	if ((group & 5) == 4)
		return other_access(word);
	return (struct arm64_insn){.op = ARM64_UNKNOWN};
}

bool arm64_decode(const uint8_t *bytes, size_t size, struct arm64_insn *insn)
{
	uint32_t word, group;
	bool known = false;

	if (size < ARM64_LENGTH)
		return false;
	word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
	*insn = (struct arm64_insn){.rd = (uint8_t)arm64_field(word, 0, 5), .wide = word >> 31};
	group = arm64_field(word, 25, 4);
	if (group == 8 || group == 9)
		known = immediates(word, insn);
	else if (group == 10 || group == 11)
		known = jumps(word, insn);
	else if (group == 5 || group == 13)
		known = registers(word, insn);
	else if ((group & 5) == 4)
		known = memory(word, insn);
	if (!known)
		*insn = decode_other(word, group);
	return true;
}

bool arm64_is_conditional(const struct arm64_insn *insn)
{
	return insn->op >= ARM64_B_COND && insn->op <= ARM64_TBNZ;
}

uint32_t arm64_changes(const struct arm64_insn *insn)
{
	uint32_t changed = insn->before || insn->after ? 1u << insn->rn : 0;

	switch (insn->op) {
	case ARM64_OTHER:
	case ARM64_ADR:
	case ARM64_ADRP:
	case ARM64_ADD:
	case ARM64_SUB:
	case ARM64_ADD_REG:
	case ARM64_MOVE:
	case ARM64_CONSTANT:
	case ARM64_LOAD:
	case ARM64_LOAD_INDEX:
	case ARM64_LOAD_ACQUIRE:
	case ARM64_LOAD_LITERAL:
		return changed | 1u << insn->rd;
	case ARM64_LOAD_PAIR:
		return changed | 1u << insn->rd | 1u << insn->rm;
	case ARM64_NOP:
	case ARM64_CMP:
	case ARM64_CMP_REG:
	case ARM64_STORE:
	case ARM64_STORE_INDEX:
	case ARM64_STORE_PAIR:
	case ARM64_STORE_RELEASE:
	case ARM64_B_COND:
	case ARM64_CBZ:
	case ARM64_CBNZ:
	case ARM64_TBZ:
	case ARM64_TBNZ:
		return changed;
	case ARM64_OTHER_ACCESS:
		return (uint32_t)insn->imm;
	default: /* code after a jump is reached from elsewhere; calls preserve no register */
		return UINT32_MAX;
	}
}
