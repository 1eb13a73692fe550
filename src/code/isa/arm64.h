/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decodes the arm64 (A64) instructions needed for code of Go's runtime. Other instructions are reported as
 * unknown. All have four bytes, so a scan can continue after them. Pure.
 */
#ifndef GOTRACE_CODE_ISA_ARM64_H
#define GOTRACE_CODE_ISA_ARM64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARM64_LENGTH 4u

/* Registers with a special role in Go (src/cmd/compile/abi-internal.md, cmd/internal/obj/arm64/a.out.go). */
enum {
	ARM64_TMP = 27, /* used by the assembler, to expand instructions */
	ARM64_G = 28,
	ARM64_FP = 29,
	ARM64_LR = 30,
	ARM64_SP = 31, /* or zero, depending on the instruction */
	ARM64_REGISTERS = 32,
};

enum arm64_op {
	ARM64_UNKNOWN,      /* may change anything */
	ARM64_OTHER,        /* computes rd, and changes no other register */
	ARM64_OTHER_ACCESS, /* may change the registers whose bits are set in imm */
	ARM64_NOP,          /* a hint that does not change registers */
	ARM64_ADR,          /* rd = the address of this instruction + imm; adrp: of its page */
	ARM64_ADRP,
	ARM64_ADD, /* rd = rn + imm; 31 is sp */
	ARM64_SUB,
	ARM64_CMP,      /* compares rn with imm (subs, rd 31) */
	ARM64_ADD_REG,  /* rd = rn + rm, neither shifted nor extended */
	ARM64_CMP_REG,  /* compares rn with rm; rn 31 is sp if extended */
	ARM64_MOVE,     /* rd = rm */
	ARM64_CONSTANT, /* rd = imm */
	ARM64_LOAD,     /* rd = size bytes at [rn + imm] */
	ARM64_STORE,
	ARM64_LOAD_INDEX, /* at [rn + rm]; rm may be extended or shifted */
	ARM64_STORE_INDEX,
	ARM64_LOAD_PAIR, /* rd and rm = size bytes each at [rn + imm] */
	ARM64_STORE_PAIR,
	ARM64_LOAD_ACQUIRE, /* at [rn] */
	ARM64_STORE_RELEASE,
	ARM64_LOAD_LITERAL, /* at the address of this instruction + imm */
	ARM64_B,            /* jumps and calls to the address of this instruction + imm */
	ARM64_BL,
	ARM64_B_COND,
	ARM64_CBZ, /* jumps if rd (32 bits unless wide) is zero, or is not */
	ARM64_CBNZ,
	ARM64_TBZ, /* jumps if bit `bit` of rd is zero, or is not */
	ARM64_TBNZ,
	ARM64_BR, /* to the address in rn */
	ARM64_BLR,
	ARM64_RET,
};

/* Conditions, Arm ARM C1.2.4. */
enum { ARM64_EQ = 0, ARM64_NE = 1, ARM64_LS = 9 };

struct arm64_insn {
	uint8_t op;         /* enum arm64_op */
	uint8_t rd, rn, rm; /* of loads and stores, rd is the first register, and rm the second of a pair */
	bool wide;          /* 64 bits */
	/* rn becomes rn + imm before the access, or after it (then the access is to [rn]). */
	bool before, after;
	uint8_t size;      /* bytes accessed; for a pair, by each register */
	uint8_t condition; /* ARM64_B_COND */
	uint8_t bit;       /* ARM64_TBZ, ARM64_TBNZ */
	int64_t imm;
};

/*
 * Decodes the instruction in the first four bytes. Returns false if there are fewer than four. op is
 * ARM64_UNKNOWN for instructions that are not listed above.
 */
bool arm64_decode(const uint8_t *bytes, size_t size, struct arm64_insn *insn);

/* Whether it jumps on a condition. */
bool arm64_is_conditional(const struct arm64_insn *insn);
/* The registers that the instruction may change, one bit each; all of them if unknown. */
uint32_t arm64_changes(const struct arm64_insn *insn);

#endif
