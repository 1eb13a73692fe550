/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/pcvalue.h"

struct pcvalue {
	const uint8_t *at, *limit;
	uint64_t pc; /* the value holds below this PC */
	uint32_t quantum;
	int32_t value;
	bool first;
};

static struct pcvalue pcvalue_begin(const struct functab *tab, const struct function *func, uint32_t table)
{
	struct pcvalue it = {.pc = func->entry, .quantum = tab->quantum, .value = -1, .first = true};

	if (table != 0 && table < tab->pctab.size) {
		it.at = tab->pctab.data + table;
		it.limit = tab->pctab.data + tab->pctab.size;
	}
	return it;
}

static bool read_varint(struct pcvalue *it, uint32_t *value)
{
	uint32_t result = 0;

	for (unsigned shift = 0; shift < 35 && it->at < it->limit; shift += 7) {
		uint8_t byte = *it->at++;

		result |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value = result;
			return true;
		}
	}
	return false;
}

/* Returns false at the end of the table, or where it is truncated. */
static bool pcvalue_next(struct pcvalue *it)
{
	uint32_t value_delta, pc_delta;

	if (!it->at || !read_varint(it, &value_delta) || (value_delta == 0 && !it->first) ||
	    !read_varint(it, &pc_delta))
		return false;
	it->first = false;
	it->value = (int32_t)((uint32_t)it->value + (-(value_delta & 1) ^ (value_delta >> 1)));
	it->pc += (uint64_t)pc_delta * it->quantum;
	return true;
}

int32_t pcvalue_at(const struct functab *tab, const struct function *func, uint32_t table, uint64_t pc)
{
	struct pcvalue it = pcvalue_begin(tab, func, table);

	while (pcvalue_next(&it)) {
		if (pc < it.pc)
			return it.value;
	}
	return -1;
}

int32_t pcvalue_max(const struct functab *tab, const struct function *func, uint32_t table, uint64_t *budget)
{
	struct pcvalue it = pcvalue_begin(tab, func, table);
	int32_t max = -1;

	while (*budget > 0 && pcvalue_next(&it)) {
		(*budget)--;
		if (it.value > max)
			max = it.value;
	}
	return max;
}
