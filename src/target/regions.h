/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Regions of runtime/trace.StartRegion while the runtime's tracer is off: it
 * then does nothing but give noopRegion, and End nothing but compare with it.
 * Pure functions over code; all addresses are link-time ones.
 */
#ifndef GOTRACE_TARGET_REGIONS_H
#define GOTRACE_TARGET_REGIONS_H

#include "target/code.h"

/* What the code of StartRegion tells (Go 1.17 ... 1.26 runtime/trace/annotation.go). */
struct start_region {
	size_t jump;                       /* offset of the jump on "is the tracer on": arguments are still in
					      registers, and equal means that it is off ... */
	bool equal_is_on;                  /* ... or, up to 1.18, on. arm64: */
	uint8_t flag_register;             /* it is off when this is zero (32 bits) */
	uint64_t noop;                     /* the variable noopRegion */
	uint64_t task_key_type, task_type; /* descriptors of traceContextKey and *Task */
};

/* -ENOENT if the code is not as the compiler makes it when it optimizes. */
int region_start_code(const struct code *code, struct start_region *start);

enum region_use {
	REGION_USE_NONE,
	REGION_USE_END,   /* `cmp noop, register` and a jump: End, inlined or not. *jump is its offset */
	REGION_USE_OTHER, /* anything else that reads it */
};

/*
 * Goes on from offset *at of a whole text segment to the next instruction that
 * uses the variable; *use is where it begins, and *at moves behind it.
 */
enum region_use region_next_use(const struct code *text, uint64_t noop, size_t *at, size_t *use,
				size_t *jump);

#endif
