/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Conditional jumps behind a call at which the call's results are still in registers: places where a probe
 * sees them without the cost of one on a `ret`. x86-64 only; Go 1.17 and later, which return in registers.
 */
#ifndef GOTRACE_ISA_JUMPS_X86_H
#define GOTRACE_ISA_JUMPS_X86_H

#include "isa/code.h"

/*
 * The first conditional jump behind the only call of the function at `callee`, with no call in between.
 * Returns 0 or -ENOENT.
 */
int code_jump_behind_call(const struct code *code, uint64_t callee, size_t *offset);
/*
 * The jump that checks an error, the second result, of a method of an interface: `call reg`, up to two
 * instructions that store results or do nothing, `test %rbx,%rbx`, `jcc`. Returns 0, or -ENOENT if there is
 * not exactly one such place.
 */
int code_jump_on_error(const struct code *code, size_t *offset);

#endif
