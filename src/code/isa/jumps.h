/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Instructions after a call at which its results are still in registers. Most are conditional jumps, where a
 * probe is cheaper than on a return. For Go 1.17 (arm64: 1.18) and later, which return in registers.
 */
#ifndef GOTRACE_CODE_ISA_JUMPS_H
#define GOTRACE_CODE_ISA_JUMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/isa/code.h"

/* A call, and which of its results are to be read. */
struct call_results {
	uint64_t callee;
	bool first;     /* the first one in the code of several calls; otherwise it must be the only one */
	uint32_t words; /* bit i: word i of the results */
};

/*
 * Finds a place at which these results of a call are still in registers: the next instruction that the kernel
 * emulates (arm64: conditional jump) if nothing writes to them before it, else the one after the call, where
 * a probe costs one step more. Returns 0 or -ENOENT.
 */
int code_jump_after_call(const struct code *code, const struct call_results *results, size_t *offset);

#endif
