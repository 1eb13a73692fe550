/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/x86.h"

#include <string.h>

/* Intel SDM volume 2, appendix A: opcode maps in 64-bit mode; chapter 2.7 for EVEX. */
#define MAX_LENGTH 15u

/* Operands after an opcode. */
enum shape {
	BAD = 0, /* invalid in 64-bit mode, or not needed: rejected */
	NONE,    /* nothing */
	M,       /* ModRM */
	I8,      /* 8-bit immediate */
	IZ,      /* 32-bit immediate, 16 with the 66 prefix */
	IV,      /* 64-bit immediate with REX.W, else as IZ */
	I16,
	I16_8, /* enter */
	MOFF,  /* 64-bit address */
	J8,    /* 8-bit jump */
	JZ,    /* 32-bit jump */
	M_I8,
	M_IZ,
	M_F8, /* ModRM; 8-bit immediate if reg is 0 or 1 (test) */
	M_FZ, /* ModRM; IZ if reg is 0 or 1 */
	M_0,  /* ModRM with reg 0 (pop); other values are AMD's XOP */
};

#define ALU      M, M, M, M, I8, IZ, BAD, BAD
#define EIGHT(x) x, x, x, x, x, x, x, x
#define FOUR(x)  x, x, x, x

static const uint8_t one_byte[256] = {
	ALU,         ALU,         ALU,  ALU,  ALU,  ALU,  ALU,  ALU,  /* 00 */
	EIGHT(BAD),  EIGHT(BAD),                                      /* 40: REX */
	EIGHT(NONE), EIGHT(NONE),                                     /* 50: push, pop */
	BAD,         BAD,         BAD,  M,    BAD,  BAD,  BAD,  BAD,  /* 60: movsxd; 62 is EVEX */
	IZ,          M_IZ,        I8,   M_I8, NONE, NONE, NONE, NONE, /* 68: push, imul, ins, outs */
	EIGHT(J8),   EIGHT(J8),                                       /* 70: jcc */
	M_I8,        M_IZ,        BAD,  M_I8, M,    M,    M,    M,    M,
	M,           M,           M,    M,    M,    M,    M_0,                  /* 80 */
	EIGHT(NONE), NONE,        NONE, BAD,  NONE, NONE, NONE, NONE, NONE,     /* 90: xchg, cdq */
	MOFF,        MOFF,        MOFF, MOFF, NONE, NONE, NONE, NONE,           /* a0 */
	I8,          IZ,          NONE, NONE, NONE, NONE, NONE, NONE,           /* a8 */
	EIGHT(I8),   EIGHT(IV),                                                 /* b0: mov */
	M_I8,        M_I8,        I16,  NONE, BAD,  BAD,  M_I8, M_IZ,           /* c0: c4, c5 are VEX */
	I16_8,       NONE,        I16,  NONE, NONE, I8,   BAD,  NONE,           /* c8: enter, leave, int */
	M,           M,           M,    M,    BAD,  BAD,  BAD,  NONE, EIGHT(M), /* d0 */
	J8,          J8,          J8,   J8,   I8,   I8,   I8,   I8,   JZ,
	JZ,          BAD,         J8,   NONE, NONE, NONE, NONE,       /* e0 */
	BAD,         NONE,        BAD,  BAD,  NONE, NONE, M_F8, M_FZ, /* f0: f1 is int1 */
	NONE,        NONE,        NONE, NONE, NONE, NONE, M,    M,    /* f8 */
};

static const uint8_t two_byte[256] = {
	M,         M,         M,    M,    BAD,  NONE, NONE, NONE, NONE,
	NONE,      BAD,       NONE, BAD,  M,    NONE, BAD,                    /* 00: syscall, ud2 */
	EIGHT(M),  EIGHT(M),                                                  /* 10 */
	M,         M,         M,    M,    BAD,  BAD,  BAD,  BAD,  EIGHT(M),   /* 20 */
	NONE,      NONE,      NONE, NONE, NONE, NONE, BAD,  BAD,  EIGHT(BAD), /* 30: rdtsc; 38, 3a are maps */
	EIGHT(M),  EIGHT(M),                                                  /* 40: cmov */
	EIGHT(M),  EIGHT(M),                                                  /* 50 */
	EIGHT(M),  EIGHT(M),                                                  /* 60 */
	M_I8,      M_I8,      M_I8, M_I8, M,    M,    M,    NONE, BAD,
	M,         BAD,       BAD,  M,    M,    M,    M,             /* 70: emms, vmread */
	EIGHT(JZ), EIGHT(JZ),                                        /* 80: jcc */
	EIGHT(M),  EIGHT(M),                                         /* 90: setcc */
	NONE,      NONE,      NONE, M,    M_I8, M,    BAD,  BAD,     /* a0: cpuid, bt, shld */
	NONE,      NONE,      NONE, M,    M_I8, M,    M,    M,       /* a8 */
	EIGHT(M),  M,         M,    M_I8, M,    M,    M,    M,    M, /* b0: cmpxchg, movzx, ud1, bt */
	M,         M,         M_I8, M,    M_I8, M_I8, M_I8, M,    EIGHT(NONE), /* c0: xadd, bswap */
	EIGHT(M),  EIGHT(M),                                                   /* d0 */
	EIGHT(M),  EIGHT(M),                                                   /* e0 */
	EIGHT(M),  M,         M,    M,    M,    M,    M,    M,    BAD,         /* f0 */
};

struct x86_bytes {
	const uint8_t *bytes;
	size_t size, at;
	bool operand16; /* 66 prefix */
	bool address32; /* 67 prefix */
};

static bool x86_next_byte(struct x86_bytes *cursor, uint8_t *byte)
{
	if (cursor->at >= cursor->size || cursor->at >= MAX_LENGTH)
		return false;
	*byte = cursor->bytes[cursor->at++];
	return true;
}

/* Little-endian, sign-extended. */
static bool next_signed(struct x86_bytes *cursor, unsigned size, int64_t *value)
{
	uint64_t bits = 0;
	uint8_t byte;

	for (unsigned i = 0; i < size; i++) {
		if (!x86_next_byte(cursor, &byte))
			return false;
		bits |= (uint64_t)byte << (8 * i);
	}
	if (size && size < 8 && bits >> (8 * size - 1))
		bits |= UINT64_MAX << (8 * size);
	memcpy(value, &bits, sizeof(bits));
	return true;
}

/* Reads prefixes, and the first byte after them into *byte. */
static bool prefixes(struct x86_bytes *cursor, struct x86_insn *insn, uint8_t *byte)
{
	while (x86_next_byte(cursor, byte)) {
		switch (*byte) {
		case 0x64:
			insn->fs = true;
			break;
		case 0x66:
			cursor->operand16 = insn->operand16 = true;
			break;
		case 0x67:
			cursor->address32 = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x65:
		case 0xf0:
			break;
		case 0xf2:
		case 0xf3:
			insn->repeat = *byte;
			break;
		default:
			if ((*byte & 0xf0) != 0x40)
				return true;
			insn->rex = *byte;
			return x86_next_byte(cursor, byte);
		}
	}
	return false;
}

/* VEX: two or three bytes; R, X and B are stored inverted. */
static bool vex(struct x86_bytes *cursor, struct x86_insn *insn, uint8_t first)
{
	uint8_t one, two;

	if (!x86_next_byte(cursor, &one))
		return false;
	insn->vex = true;
	insn->map = X86_0F;
	insn->rex = one & 0x80 ? 0 : 4;
	if (first == 0xc4) {
		if (!x86_next_byte(cursor, &two) || (one & 0x1f) < X86_0F || (one & 0x1f) > X86_0F3A)
			return false;
		insn->map = one & 0x1f;
		insn->rex |= (one & 0x40 ? 0 : 2) | (one & 0x20 ? 0 : 1) | (two & 0x80 ? 8 : 0);
	}
	return x86_next_byte(cursor, &insn->opcode);
}

/*
 * EVEX (AVX-512): four bytes, the first of which has been read. A second bit per register selects vector
 * registers and is not decoded. Maps 4 (APX) and 7 are unknown.
 */
static bool evex(struct x86_bytes *cursor, struct x86_insn *insn)
{
	uint8_t one, two, three;

	if (!x86_next_byte(cursor, &one) || !x86_next_byte(cursor, &two) || !x86_next_byte(cursor, &three))
		return false;
	insn->vex = insn->evex = true;
	insn->map = one & 7;
	insn->rex = (one & 0x80 ? 0 : 4) | (one & 0x40 ? 0 : 2) | (one & 0x20 ? 0 : 1) | (two & 0x80 ? 8 : 0);
	if ((one & 8) || !(two & 4) || insn->map == 0 || insn->map == 4 || insn->map == 7)
		return false;
	return x86_next_byte(cursor, &insn->opcode);
}

static bool opcode(struct x86_bytes *cursor, struct x86_insn *insn)
{
	uint8_t byte;

	if (!prefixes(cursor, insn, &byte))
		return false;
	if (byte == 0xc4 || byte == 0xc5)
		return vex(cursor, insn, byte);
	if (byte == 0x62)
		return evex(cursor, insn);
	insn->opcode = byte;
	if (byte != 0x0f)
		return true;
	if (!x86_next_byte(cursor, &insn->opcode))
		return false;
	insn->map = X86_0F;
	if (insn->opcode == 0x38 || insn->opcode == 0x3a) {
		insn->map = insn->opcode == 0x38 ? X86_0F38 : X86_0F3A;
		return x86_next_byte(cursor, &insn->opcode);
	}
	return true;
}

/*
 * With VEX and EVEX, all instructions except vzeroupper have a ModRM byte; there are no jumps, bit tests,
 * etc.
 */
static enum shape shape_of_vector(const struct x86_insn *insn)
{
	uint8_t opcode = insn->opcode;

	if (opcode == 0x77)
		return insn->evex ? BAD : NONE;
	if ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6))
		return M_I8;
	if (insn->evex && opcode >= 0x78 && opcode <= 0x7b)
		return M; /* conversions to and from unsigned integers */
	return two_byte[opcode] == M ? M : BAD;
}

static enum shape x86_shape_of(const struct x86_insn *insn)
{
	switch (insn->map) {
	case X86_ONE:
		return one_byte[insn->opcode];
	case X86_0F:
		return insn->vex ? shape_of_vector(insn) : two_byte[insn->opcode];
	case X86_0F3A:
		return M_I8;
	default:
		return M;
	}
}

static bool modrm(struct x86_bytes *cursor, struct x86_insn *insn)
{
	uint8_t byte, low;
	unsigned disp = 0;
	int64_t value;

	if (!x86_next_byte(cursor, &byte))
		return false;
	insn->has_modrm = true;
	insn->mod = byte >> 6;
	low = byte & 7;
	insn->reg = (byte >> 3 & 7) | (insn->rex & 4 ? 8 : 0);
	insn->rm = low | (insn->rex & 1 ? 8 : 0);
	if (insn->mod == 3)
		return true;
	if (low == 4 && !x86_next_byte(cursor, &insn->sib))
		return false;
	insn->rip_relative = insn->mod == 0 && low == 5;
	if (insn->mod == 1)
		disp = 1;
	else if (insn->mod == 2 || insn->rip_relative || (insn->mod == 0 && low == 4 && (insn->sib & 7) == 5))
		disp = 4;
	insn->has_disp = disp;
	if (!next_signed(cursor, disp, &value))
		return false;
	insn->disp = (int32_t)value;
	return true;
}

static unsigned immediate_size(const struct x86_bytes *cursor, const struct x86_insn *insn, enum shape shape)
{
	unsigned z = cursor->operand16 && !(insn->rex & 8) ? 2 : 4; /* REX.W takes precedence */

	switch (shape) {
	case I8:
	case J8:
	case M_I8:
		return 1;
	case I16:
		return 2;
	case I16_8:
		return 3;
	case IZ:
	case M_IZ:
		return z;
	case JZ:
		return 4;
	case IV:
		return insn->rex & 8 ? 8 : z;
	case MOFF:
		return cursor->address32 ? 4 : 8;
	case M_F8:
		return (insn->reg & 7) < 2 ? 1 : 0;
	case M_FZ:
		return (insn->reg & 7) < 2 ? z : 0;
	default:
		return 0;
	}
}

bool x86_decode(const uint8_t *bytes, size_t size, struct x86_insn *insn)
{
	struct x86_bytes cursor = {.bytes = bytes, .size = size};
	enum shape shape;

	memset(insn, 0, sizeof(*insn));
	if (!opcode(&cursor, insn))
		return false;
	shape = x86_shape_of(insn);
	if (shape == BAD)
		return false;
	if ((shape == M || shape >= M_I8) && !modrm(&cursor, insn))
		return false;
	if (shape == M_0 && (insn->reg & 7))
		return false;
	insn->imm_size = immediate_size(&cursor, insn, shape);
	if (!next_signed(&cursor, insn->imm_size, &insn->imm))
		return false;
	insn->relative = shape == J8 || shape == JZ;
	insn->length = (uint8_t)cursor.at;
	return true;
}

bool x86_is_one(const struct x86_insn *insn, uint8_t opcode)
{
	return insn->map == X86_ONE && !insn->vex && insn->opcode == opcode;
}

bool x86_is_nop(const struct x86_insn *insn)
{
	if (insn->map == X86_0F)
		return insn->opcode == 0x1f;
	return x86_is_one(insn, 0x90) && !(insn->rex & 1);
}

bool x86_is_push_rbp(const struct x86_insn *insn)
{
	return insn->length == 1 && insn->opcode == 0x50 + X86_RBP;
}

bool x86_is_call(const struct x86_insn *insn)
{
	return insn->length == 5 && insn->map == X86_ONE && insn->opcode == 0xe8;
}

bool x86_is_jcc(const struct x86_insn *insn)
{
	if (insn->map == X86_ONE)
		return insn->length == 2 && insn->opcode >= 0x70 && insn->opcode <= 0x7f;
	return insn->map == X86_0F && !insn->vex && insn->length == 6 && insn->opcode >= 0x80 &&
	       insn->opcode <= 0x8f;
}

bool x86_is_push(const struct x86_insn *insn)
{
	return insn->map == X86_ONE && !insn->vex && (insn->opcode & 0xf8) == 0x50;
}

bool x86_is_emulated(const struct x86_insn *insn)
{
	if (insn->map == X86_ONE && !insn->vex) {
		uint8_t op = insn->opcode;

		if (x86_is_push(insn))
			return insn->length == 1 || (insn->length == 2 && insn->rex == 0x41);
		if (op == 0xe8 || op == 0xe9)
			return insn->length == 5;
		if (op == 0xeb)
			return insn->length == 2;
		if (op == 0x90)
			return insn->length == 1;
	}
	return x86_is_jcc(insn);
}
