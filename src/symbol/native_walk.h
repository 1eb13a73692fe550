/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stacks of native code, walked in user space by the same tables and steps as in the kernel. */
#ifndef GOTRACE_SYMBOL_NATIVE_WALK_H
#define GOTRACE_SYMBOL_NATIVE_WALK_H

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

/* Copies memory of the process; returns how many bytes from the address on could be read, at most size. */
typedef size_t (*native_reader)(void *ctx, uint64_t address, void *to, size_t size);

/*
 * The stack that goes on from regs, leaf first: at most max addresses, which
 * are all looked up at pc - 1. Returns their number; *flags are those of the
 * struct raw_stack.
 */
size_t native_walk(const struct unwind_tables *tables, struct unwind_space space, struct unwind_regs regs,
		   native_reader read, void *ctx, uint64_t *pcs, size_t max, uint16_t *flags);

/* The rule for one address. */
uint32_t native_rule(const struct unwind_tables *tables, struct unwind_space space, uint64_t pc);

#endif
