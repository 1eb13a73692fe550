/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Regions of runtime/trace.StartRegion while the runtime's tracer is off: StartRegion only returns
 * noopRegion, and End only compares with it. Pure functions over code; all addresses are link-time addresses.
 */
#ifndef GOTRACE_CODE_ISA_REGIONS_H
#define GOTRACE_CODE_ISA_REGIONS_H

#include "code/isa/code.h"

/* Facts from the code of StartRegion (Go 1.17 ... 1.26 runtime/trace/annotation.go). */
struct start_region {
	/* Offset of the jump that tests whether the tracer is on; arguments are still in registers there. */
	size_t jump;
	bool equal_is_on;                  /* "equal" means that the tracer is on (up to 1.18), not off */
	uint8_t flag_register;             /* arm64: the tracer is off if this register is zero (32 bits) */
	uint64_t noop;                     /* address of the variable noopRegion */
	uint64_t task_key_type, task_type; /* type descriptors of traceContextKey and *Task */
};

/* Returns 0, or -ENOENT if the code is not what an optimizing Go compiler generates. */
int region_start_code(const struct code *code, struct start_region *start);

enum region_use {
	REGION_USE_NONE,
	REGION_USE_END,   /* End, inlined or not: `cmp noop, register` and a jump, whose offset is *jump */
	REGION_USE_OTHER, /* any other read */
};

/*
 * Finds the next instruction that uses the variable, at or after offset *at of a text segment. *use is its
 * offset; *at moves past it.
 */
enum region_use region_next_use(const struct code *text, uint64_t noop, size_t *at, size_t *use,
				size_t *jump);

#endif
