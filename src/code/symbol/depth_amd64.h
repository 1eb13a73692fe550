/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames of amd64 code that has no call frame information, from what its instructions do to the stack
 * pointer: musl, which is built without (configure of 1.2.3, CFLAGS_AUTO), and assembly. Pure functions over
 * untrusted bytes.
 */
#ifndef GOTRACE_CODE_SYMBOL_DEPTH_AMD64_H
#define GOTRACE_CODE_SYMBOL_DEPTH_AMD64_H

#include <stddef.h>
#include <stdint.h>

#include "code/symbol/ehframe.h"
#include "util/budget.h"

#define DEPTH_CODE_MAX (2u << 20) /* bytes of code in one piece; up to 40 bytes of memory for each */

/* Link addresses where functions begin, as far as they are known, in any order. */
struct depth_starts {
	uint64_t *list;
	size_t n;
};

/*
 * Adds the rules of a piece of code that begins with a function, at link address `address`, which must not be
 * below pieces added before. Code that cannot be followed gets no rule. The time is linear in the size; when
 * the budget is used up, adds nothing. Returns 0 or -ENOMEM.
 */
int depth_amd64_add(struct ehframe_spans *spans, const uint8_t *code, size_t size, uint64_t address,
		    const struct depth_starts *starts, struct budget *budget);

#endif
