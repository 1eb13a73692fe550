/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a function's description says of a PC. A PC-value table is a list of
 * (zig-zag value delta, PC delta) varints that starts at value -1 and the
 * function's entry and ends with a value delta of 0 (Go 1.26
 * runtime/symtab.go, step and pcvalue).
 */
#include "symbol/pclntab.h"

#include <string.h>

struct pcvalue {
	const uint8_t *at, *limit;
	uint64_t pc; /* the value holds below this */
	int32_t value;
	bool first;
};

static struct pcvalue pcvalue_begin(const struct functab *tab, const struct function *func, uint32_t table)
{
	struct pcvalue it = {.pc = func->entry, .value = -1, .first = true};

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

/* False at the end of the table, and where it is torn. */
static bool pcvalue_next(struct pcvalue *it)
{
	uint32_t value_delta, pc_delta;

	if (!it->at || !read_varint(it, &value_delta) || (value_delta == 0 && !it->first) ||
	    !read_varint(it, &pc_delta))
		return false;
	it->first = false;
	it->value = (int32_t)((uint32_t)it->value + (-(value_delta & 1) ^ (value_delta >> 1)));
	it->pc += pc_delta;
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

/* The description is followed by npcdata and then nfuncdata words of 4 bytes. */
static bool word_after(const struct functab *tab, const struct function *func, uint64_t word, uint32_t *value)
{
	uint64_t offset = func->offset + tab->format->func_size + word * 4;

	return offset < tab->funcs.size && span_u32(&tab->funcs, (size_t)offset, value);
}

uint32_t function_pcdata(const struct functab *tab, const struct function *func, uint32_t table)
{
	uint32_t offset;

	if (table >= func->npcdata || !word_after(tab, func, table, &offset))
		return 0;
	return offset;
}

bool function_funcdata(const struct functab *tab, const struct function *func, uint8_t table,
		       uint32_t *offset)
{
	if (table >= func->nfuncdata || !word_after(tab, func, (uint64_t)func->npcdata + table, offset))
		return false;
	return *offset != UINT32_MAX;
}

bool function_inlined(const struct functab *tab, const struct function *func, int32_t index,
		      struct inlined_call *call)
{
	const struct pclntab_format *format = tab->format;
	struct span gofunc = {.data = tab->source.gofunc, .size = tab->source.gofunc_size};
	uint64_t at;
	uint32_t tree;

	if (index < 0 || !function_funcdata(tab, func, FUNCDATA_INL_TREE, &tree))
		return false;
	at = tree + (uint64_t)index * format->inline_size;
	if (at > gofunc.size || gofunc.size - at < format->inline_size)
		return false;
	call->id = gofunc.data[at + format->inline_id];
	span_u32(&gofunc, (size_t)at + format->inline_name, &call->name);
	span_u32(&gofunc, (size_t)at + format->inline_parent, &call->parent);
	return true;
}

const char *function_file_line(const struct functab *tab, const struct function *func, uint64_t pc,
			       uint32_t *line)
{
	int32_t file_number = pcvalue_at(tab, func, func->pcfile, pc);
	int32_t number = pcvalue_at(tab, func, func->pcln, pc);
	uint64_t index = (uint64_t)func->cu + (uint32_t)file_number;
	uint32_t file;

	*line = 0;
	if (file_number < 0 || number < 0)
		return NULL;
	if (index > SIZE_MAX / 8 || !span_u32(&tab->cutab, (size_t)index * 4, &file) || file == UINT32_MAX)
		return NULL;
	*line = (uint32_t)number;
	return span_string(&tab->files, file);
}
