/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where code holds a value, some instructions before it passes it to a function. x86-64 only. */
#ifndef GOTRACE_CODE_ISA_CALL_ARGUMENT_H
#define GOTRACE_CODE_ISA_CALL_ARGUMENT_H

#include "code/isa/code.h"

struct value_origin {
	enum { ORIGIN_UNKNOWN, ORIGIN_REGISTER, ORIGIN_SLOT, ORIGIN_CONSTANT } kind;
	uint32_t number; /* of the register in machine code; of the slot: bytes above the stack pointer */
	int64_t constant;
};

/*
 * Finds where the value is at a conditional jump that the next call of the function at `callee` on some path
 * from there gets in this register. It may be smaller than the place. Follows at most a few branches. Returns
 * 0, or -ENOENT if no such call is found, or the value is computed in between.
 */
int code_call_argument(const struct code *code, size_t jump, uint64_t callee, uint8_t reg,
		       struct value_origin *origin);

#endif
