/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a function's description says of a PC. A PC-value table is a list of
 * (zig-zag value delta, PC delta in units of the header's minLC) varints that starts at value -1 and the
 * function's entry and ends with a value delta of 0 (Go 1.26
 * runtime/symtab.go, step and pcvalue).
 */
#include "symbol/pclntab.h"

#include <errno.h>
#include <string.h>

struct pcvalue {
	const uint8_t *at, *limit;
	uint64_t pc; /* the value holds below this */
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

/* False at the end of the table, and where it is torn. */
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

/* The description is followed by npcdata words of 4 bytes, and then by the function's data. */
static uint64_t behind(const struct functab *tab, const struct function *func, uint32_t words)
{
	return func->offset + tab->format->func_size + (uint64_t)words * 4;
}

uint32_t function_pcdata(const struct functab *tab, const struct function *func, uint32_t table)
{
	uint64_t at = behind(tab, func, table);
	uint32_t offset;

	if (table >= func->npcdata || at >= tab->funcs.size || !span_u32(&tab->funcs, (size_t)at, &offset))
		return 0;
	return offset;
}

/* Pointers are aligned as they are in memory; the linker aligns the whole table. */
bool function_funcdata_at(const struct functab *tab, const struct function *func, uint8_t table, size_t *at)
{
	uint64_t offset = behind(tab, func, func->npcdata);
	size_t size = tab->format->funcdata_size;
	size_t before = (size_t)(tab->funcs.data - tab->source.pclntab);

	if (table == NO_TABLE || table >= func->nfuncdata)
		return false;
	if (size == sizeof(uint64_t))
		offset += -(before + offset) % size;
	offset += (uint64_t)table * size;
	*at = (size_t)offset;
	return offset < tab->funcs.size && tab->funcs.size - offset >= size;
}

bool function_funcdata(const struct functab *tab, const struct function *func, uint8_t table,
		       uint64_t *address)
{
	uint32_t offset = 0;
	size_t at;

	if (!function_funcdata_at(tab, func, table, &at))
		return false;
	if (tab->format->funcdata_size == sizeof(*address)) {
		if (!span_u64(&tab->funcs, at, address) || *address == 0)
			return false;
		*address += tab->source.bias;
		return true;
	}
	span_u32(&tab->funcs, at, &offset);
	*address = tab->source.gofunc_address + offset;
	return offset != UINT32_MAX;
}

bool functab_data(const struct functab *tab, uint64_t address, struct span *span)
{
	uint64_t offset = address - tab->source.gofunc_address;

	if (address < tab->source.gofunc_address || offset >= tab->source.gofunc_size)
		return false;
	span->data = tab->source.gofunc + offset;
	span->size = tab->source.gofunc_size - (size_t)offset;
	return true;
}

int32_t function_inline_index(const struct functab *tab, const struct function *func, uint64_t pc)
{
	if (tab->format->inline_size == 0)
		return -1;
	return pcvalue_at(tab, func, function_pcdata(tab, func, tab->rules->pcdata_inline), pc);
}

bool function_inlined(const struct functab *tab, const struct function *func, int32_t index,
		      struct inlined_call *call)
{
	const struct pclntab_format *format = tab->format;
	struct span tree;
	uint64_t address, at;

	if (index < 0 || format->inline_size == 0 ||
	    !function_funcdata(tab, func, tab->rules->funcdata_inline, &address) ||
	    !functab_data(tab, address, &tree))
		return false;
	at = (uint64_t)index * format->inline_size;
	if (at > tree.size || tree.size - at < format->inline_size)
		return false;
	call->id = tree.data[at + format->inline_id];
	span_u32(&tree, (size_t)at + format->inline_name, &call->name);
	span_u32(&tree, (size_t)at + format->inline_parent, &call->parent);
	span_u32(&tree, (size_t)at + format->inline_file, &call->file);
	span_u32(&tree, (size_t)at + format->inline_line, &call->line);
	return true;
}

const char *function_file(const struct functab *tab, const struct function *func, uint32_t number)
{
	uint64_t index = (uint64_t)func->cu + number;
	uint32_t file;

	if (index > SIZE_MAX / 8 || !span_u32(&tab->cutab, (size_t)index * 4, &file) || file == UINT32_MAX)
		return NULL;
	return span_string(&tab->files, file);
}

const char *function_file_line(const struct functab *tab, const struct function *func, uint64_t pc,
			       uint32_t *line)
{
	int32_t file_number = pcvalue_at(tab, func, func->pcfile, pc);
	int32_t number = pcvalue_at(tab, func, func->pcln, pc);
	const char *file;

	*line = 0;
	if (file_number < 0 || number < 0)
		return NULL;
	file = function_file(tab, func, (uint32_t)file_number);
	if (file)
		*line = (uint32_t)number;
	return file;
}

int functab_sp_delta(const struct functab *tab, uint64_t pc, uint32_t *delta)
{
	struct function func;
	size_t index;
	int32_t value;

	if (functab_lookup(tab, pc, &index))
		return -ENOENT;
	if (function_read(tab, index, &func))
		return -EBADMSG;
	value = pcvalue_at(tab, &func, func.pcsp, pc);
	if (value < 0 || value % 8)
		return -ENODATA;
	*delta = (uint32_t)value;
	return 0;
}
