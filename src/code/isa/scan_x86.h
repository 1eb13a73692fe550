/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: scans x86-64 code instruction by instruction. */
#ifndef GOTRACE_CODE_ISA_SCAN_X86_H
#define GOTRACE_CODE_ISA_SCAN_X86_H

#include "code/isa/code.h"
#include "code/isa/x86.h"

/*
 * Decodes the instruction at offset *at and advances *at. Returns 1, 0 at the end, or -EBADMSG if the
 * instruction is unknown.
 */
int x86_next(const struct code *code, size_t *at, struct x86_insn *insn);
/*
 * Address of the variable or function that an instruction refers to. after: offset of the next instruction.
 */
uint64_t x86_named(const struct code *code, size_t after, int64_t relative);

#define X86_REGISTERS 16

/* Whether the instruction ends straight-line code. */
bool x86_leaves_line(const struct x86_insn *insn);
/*
 * Constants in registers along straight-line code; CONSTANT_UNKNOWN for the others. Constants of 8, 16 and 64
 * bits are as they are in the instruction; those of 32 bits are sign-extended.
 */
void x86_forget_constants(int64_t constants[X86_REGISTERS]);
void x86_follow_constants(int64_t constants[X86_REGISTERS], const struct x86_insn *insn);

#endif
