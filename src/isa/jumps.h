/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Places behind a call at which its results are still in registers: mostly conditional jumps, where a probe
 * sees them without the cost of one on a return. Go 1.17 (arm64: 1.18) and later, which return in registers.
 */
#ifndef GOTRACE_ISA_JUMPS_H
#define GOTRACE_ISA_JUMPS_H

#include "isa/code.h"

/*
 * The first conditional jump behind the only call of the function at `callee`, with no call in between. If
 * there is none, or if on arm64 it comes too late for x0 to x3, the instruction behind the call, where a
 * probe costs one step more. Returns 0 or -ENOENT.
 */
int code_jump_behind_call(const struct code *code, uint64_t callee, size_t *offset);

#endif
