/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unwinds a Go stack from a copy of its memory. */
#ifndef GOTRACE_CODE_SYMBOL_UNWIND_H
#define GOTRACE_CODE_SYMBOL_UNWIND_H

#include "code/symbol/functab.h"

/* A stack barrier of the collector of Go 1.5 to 1.8 (g.stkbar). */
struct stack_barrier {
	uint64_t at; /* address of the replaced word */
	uint64_t pc; /* the return address that it replaced */
};

/* A copy of a stack's memory [lo, hi), at addresses of the process. Not owned. */
struct stack_bytes {
	const uint8_t *bytes;
	uint64_t lo, hi;
	const struct stack_barrier *barriers;
	size_t nbarriers;
};

struct unwinder;

/* NULL when out of memory. The table is not owned. */
struct unwinder *unwinder_new(const struct functab *tab);
void unwinder_free(struct unwinder *unwinder);
/*
 * The addresses of a stack, leaf first: pc, where the goroutine will continue, then the return addresses
 * above sp. Ends at the stack's root function (*whole is set if that is runtime.goexit), after `max`
 * addresses, or at an address that is not in Go code or not in the copy. Returns their number.
 */
size_t unwinder_walk(struct unwinder *unwinder, uint64_t pc, uint64_t sp, const struct stack_bytes *stack,
		     uint64_t *pcs, size_t max, bool *whole);

#endif
