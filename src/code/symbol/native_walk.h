/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unwinds native stacks in user space, with the same tables and steps as in the kernel. */
#ifndef GOTRACE_CODE_SYMBOL_NATIVE_WALK_H
#define GOTRACE_CODE_SYMBOL_NATIVE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* Not owned. */
struct unwind_tables {
	const struct unwind_row *rows;
	const struct unwind_page *pages;
	const struct unwind_mapping *mappings;
	uint32_t nrows, npages, nmappings;
};

/* Reads up to size bytes of the process's memory at the address. Returns the number of bytes read. */
typedef size_t (*native_reader)(void *ctx, uint64_t address, void *to, size_t size);

/*
 * Unwinds from regs and stores at most max addresses, leaf first. Names for all of them must be looked up at
 * pc - 1. Returns their number and sets *flags as in struct raw_stack.
 */
size_t native_walk(const struct unwind_tables *tables, struct unwind_space space, struct unwind_regs regs,
		   native_reader read, void *ctx, uint64_t *pcs, size_t max, uint16_t *flags);

/* The unwind rule for an address. */
uint32_t native_rule(const struct unwind_tables *tables, struct unwind_space space, uint64_t pc);

#endif
