/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/native_walk.h"

#define COPY 4096u /* bytes of stack per read, up to the end of their page */

struct native_walk {
	const struct unwind_tables *tables;
	native_reader read;
	void *ctx;
	uint64_t base; /* address of the copy */
	size_t words;
	uint64_t copy[COPY / 8];
};

static const struct unwind_mapping *unwind_mapping_at(void *where, uint32_t i)
{
	const struct unwind_tables *tables = ((struct native_walk *)where)->tables;

	return i < tables->nmappings ? &tables->mappings[i] : NULL;
}

static const struct unwind_page *unwind_page_at(void *where, uint32_t i)
{
	const struct unwind_tables *tables = ((struct native_walk *)where)->tables;

	return i < tables->npages ? &tables->pages[i] : NULL;
}

static const struct unwind_row *unwind_row_at(void *where, uint32_t i)
{
	const struct unwind_tables *tables = ((struct native_walk *)where)->tables;

	return i < tables->nrows ? &tables->rows[i] : NULL;
}

static bool unwind_read(void *where, uint64_t address, uint64_t *word)
{
	struct native_walk *walk = where;
	uint64_t at = (address - walk->base) / 8;

	if (address & 7)
		return false;
	if (at >= walk->words) {
		walk->base = address;
		walk->words = walk->read(walk->ctx, address, walk->copy, COPY - address % COPY) / 8;
		at = 0;
	}
	if (!walk->words)
		return false;
	*word = walk->copy[at];
	return true;
}

#include "bpf/unwind_step.h"

size_t native_walk(const struct unwind_tables *tables, struct unwind_space space, struct unwind_regs regs,
		   native_reader read, void *ctx, uint64_t *pcs, size_t max, uint16_t *flags)
{
	struct native_walk walk = {.tables = tables, .read = read, .ctx = ctx};
	enum unwind_result result = UNWIND_MORE;
	size_t n = 0;

	*flags = RAW_STACK_NATIVE;
	while (result == UNWIND_MORE) {
		uint32_t rule = unwind_rule_at(&walk, space, regs.ip - 1);

		if (rule == UNWIND_NOWHERE && n) {
			result = UNWIND_BROKEN;
			break;
		}
		if (n == max) {
			*flags |= RAW_STACK_CUT;
			break;
		}
		pcs[n++] = regs.ip;
		result = unwind_step(&walk, rule, &regs);
	}
	if (result == UNWIND_BROKEN)
		*flags |= RAW_STACK_BROKEN;
	return n;
}

uint32_t native_rule(const struct unwind_tables *tables, struct unwind_space space, uint64_t pc)
{
	struct native_walk walk = {.tables = tables};

	return unwind_rule_at(&walk, space, pc);
}
