/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Atomic instructions, and the conditional jump after each. The kernel cannot probe an instruction with a
 * LOCK prefix, but it emulates the jump. x86-64 only; -ENOTSUP for arm64.
 */
#ifndef GOTRACE_CODE_ISA_MEMORY_JUMPS_H
#define GOTRACE_CODE_ISA_MEMORY_JUMPS_H

#include "code/isa/code.h"

/*
 * A compare-and-swap of a 32-bit word. Go's compiler turns the outcome into a bool and tests that: `lock
 * cmpxchg %new, displacement(%base); sete %r; test %r, %r; jcc`. At the jump the zero flag is 0 if the word
 * has been changed.
 */
struct exchange {
	size_t offset;
	size_t jump;      /* 0: no such jump follows */
	uint8_t base;     /* register, numbered as in machine code */
	int64_t old, new; /* constants loaded directly before, else CONSTANT_UNKNOWN */
};

/*
 * Finds the exchanges with this displacement. Returns their number (at most max are stored), or a negative
 * errno.
 */
int code_exchanges(const struct code *code, int32_t displacement, struct exchange *found, int max);

struct atomic_add { /* of a 64-bit word */
	size_t offset;
	size_t jump; /* the next conditional jump, if no other jump, call or return is before it; else 0 */
};

int code_atomic_adds(const struct code *code, struct atomic_add *found, int max);

struct comparison { /* of a 32-bit word in memory, followed by a conditional jump */
	size_t jump;
	uint8_t base; /* register, numbered as in machine code */
};

/* Finds the comparisons of words with this displacement. Returns as code_exchanges(). */
int code_comparisons(const struct code *code, int32_t displacement, struct comparison *found, int max);

#endif
