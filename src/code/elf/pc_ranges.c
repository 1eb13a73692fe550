/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/elf/pc_ranges.h"

#include <stdlib.h>

#include "util/array.h"

#define MAX_RANGES (1u << 20) /* of a file's units, or of the functions in one unit */
#define MAX_BACK   256        /* maximum number of ranges to search backwards */

static bool pc_range_add(struct pc_ranges *ranges, const struct pc_range *range, struct native_cost *cost)
{
	if (ranges->n == ranges->capacity) {
		size_t capacity = ranges->capacity ? ranges->capacity * 2 : 4;
		struct pc_range *bigger;

		if (!native_cost_take(cost, (capacity - ranges->capacity) * sizeof(*bigger)))
			return false;
		bigger = realloc(ranges->list, capacity * sizeof(*bigger));
		if (!bigger)
			return false;
		ranges->list = bigger;
		ranges->capacity = capacity;
	}
	ranges->list[ranges->n++] = *range;
	return true;
}

/* Sorts outer before inner ranges, so that the last one that contains an address is the innermost. */
static int pc_range_compare(const void *a, const void *b)
{
	const struct pc_range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high == y->high ? 0 : x->high > y->high ? -1 : 1;
}

void pc_ranges_sort(struct pc_ranges *ranges)
{
	if (ranges->n)
		qsort(ranges->list, ranges->n, sizeof(*ranges->list), pc_range_compare);
}

const struct pc_range *pc_ranges_find(const struct pc_ranges *ranges, uint64_t address)
{
	size_t n = array_upto(ranges->list, ranges->n, sizeof(*ranges->list), address);

	for (size_t i = n; i > 0 && n - i < MAX_BACK; i--) {
		if (address < ranges->list[i - 1].high)
			return &ranges->list[i - 1];
	}
	return NULL;
}

bool pc_ranges_add(struct pc_ranges *ranges, Dwarf_Die *die, uint32_t unit, struct native_cost *cost)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	for (;;) {
		struct pc_range range;

		offset = dwarf_ranges(die, offset, &base, &low, &high);
		if (offset <= 0)
			break;
		cost->refused |= ranges->n >= MAX_RANGES;
		if (!budget_step(&cost->own) || ranges->n >= MAX_RANGES)
			return false;
		/* Code that the linker has discarded is at 0. */
		range = (struct pc_range){low, high, dwarf_dieoffset(die), unit};
		if (low && low < high && !pc_range_add(ranges, &range, cost))
			return false;
	}
	return true;
}
