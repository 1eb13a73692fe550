/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decodes lengths and operands of x86-64 instructions used by compilers and by assembly code of libraries.
 * Unknown instructions are rejected, so a scan never continues at a guess. Pure; the bytes are untrusted
 * input.
 */
#ifndef GOTRACE_CODE_ISA_X86_H
#define GOTRACE_CODE_ISA_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_map { X86_ONE, X86_0F, X86_0F38, X86_0F3A, X86_MAP5 = 5, X86_MAP6 };

enum { X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI };

struct x86_insn {
	uint8_t length;
	uint8_t map; /* enum x86_map */
	uint8_t opcode;
	bool vex;       /* VEX- or EVEX-encoded (AVX, BMI) */
	bool evex;      /* AVX-512 */
	bool fs;        /* fs: prefix */
	bool operand16; /* 66 prefix */
	uint8_t repeat; /* f2 or f3 prefix, 0 = none */
	uint8_t rex;
	bool has_modrm, has_disp;
	uint8_t mod, reg, rm; /* reg and rm with their REX bits */
	uint8_t sib;          /* valid if mod != 3 and (rm & 7) == 4 */
	bool rip_relative;    /* memory operand at the next instruction + disp */
	bool relative;        /* call, jmp or jcc to the next instruction + imm */
	uint8_t imm_size;     /* bytes, 0 = none */
	int32_t disp;         /* sign-extended */
	int64_t imm;          /* sign-extended */
};

/* Decodes one instruction of at most `size` bytes. Returns false if it is truncated or unknown. */
bool x86_decode(const uint8_t *bytes, size_t size, struct x86_insn *insn);

/* Whether it is the instruction of the one-byte map with this opcode. */
bool x86_is_one(const struct x86_insn *insn, uint8_t opcode);
bool x86_is_nop(const struct x86_insn *insn); /* of any length */
bool x86_is_push_rbp(const struct x86_insn *insn);
bool x86_is_call(const struct x86_insn *insn); /* call rel32 */
bool x86_is_jcc(const struct x86_insn *insn);  /* rel8 or rel32 */
bool x86_is_push(const struct x86_insn *insn);
/*
 * push, jcc, jmp, call, nop: the kernel emulates these, so a probe costs a tenth (arch/x86/kernel/uprobes.c,
 * Linux 6.18).
 */
bool x86_is_emulated(const struct x86_insn *insn);

#endif
