/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Code ranges of entries of debug information, found by address. */
#ifndef GOTRACE_CODE_ELF_PC_RANGES_H
#define GOTRACE_CODE_ELF_PC_RANGES_H

#include <elfutils/libdw.h>

#include "code/elf/cost.h"

struct pc_range {
	uint64_t low, high;
	Dwarf_Off die;
	uint32_t unit; /* index */
};

struct pc_ranges {
	struct pc_range *list;
	size_t n, capacity;
};

/*
 * Adds the ranges of an entry, with `unit`. Returns false if the budget is spent or there is no memory; the
 * ranges added by then can be used.
 */
bool pc_ranges_add(struct pc_ranges *ranges, Dwarf_Die *die, uint32_t unit, struct native_cost *cost);
/* Must be called before pc_ranges_find(). */
void pc_ranges_sort(struct pc_ranges *ranges);
/* The innermost range that contains the address, or NULL. */
const struct pc_range *pc_ranges_find(const struct pc_ranges *ranges, uint64_t address);

#endif
