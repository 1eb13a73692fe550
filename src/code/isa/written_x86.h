/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which general registers an instruction of amd64 writes. */
#ifndef GOTRACE_CODE_ISA_WRITTEN_X86_H
#define GOTRACE_CODE_ISA_WRITTEN_X86_H

#include <stdint.h>

#include "code/isa/x86.h"

/* Results of x86_written() for an instruction that writes no general register, or an unknown one. */
enum { X86_WRITES_NONE = -1, X86_WRITES_UNKNOWN = -2 };
/* Result of x86_written_mask() for an instruction that is not known. */
enum { X86_ALL_REGISTERS = 0xffff };

/*
 * The general register that the instruction writes, or one of X86_WRITES_*. An SSE instruction that writes
 * one counts as X86_WRITES_NONE: it is never the stack pointer.
 */
int x86_written(const struct x86_insn *insn);
/* All registers that the instruction may write, one bit each. */
uint32_t x86_written_mask(const struct x86_insn *insn);

#endif
