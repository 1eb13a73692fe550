/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/pclntab.h"

#include <errno.h>

bool functab_row_word(const struct functab *tab, size_t index, unsigned word, uint64_t *value)
{
	size_t size = tab->format->word_size;
	size_t at = tab->format->rows + (index * 2 + word) * size;
	uint32_t low;

	if (size == sizeof(*value))
		return span_u64(&tab->funcs, at, value);
	if (!span_u32(&tab->funcs, at, &low))
		return false;
	*value = low;
	return true;
}

uint64_t functab_entry_at(const struct functab *tab, size_t index)
{
	uint64_t entry = 0;

	functab_row_word(tab, index, 0, &entry);
	return entry + (tab->format->word_size == sizeof(entry) ? tab->source.bias : tab->source.text);
}

/* Reads a field that some releases do not have. Its offset is 0 there. */
static uint8_t optional_byte(const struct functab *tab, size_t func, uint8_t field)
{
	return field ? tab->funcs.data[func + field] : 0;
}

int function_read(const struct functab *tab, size_t index, struct function *func)
{
	const struct pclntab_format *format = tab->format;
	const struct byte_span *funcs = &tab->funcs;
	uint64_t row;
	size_t at;

	if (index >= tab->count)
		return -ERANGE;
	if (!functab_row_word(tab, index, 1, &row) || funcs->size < format->func_size ||
	    row > funcs->size - format->func_size)
		return -EBADMSG;
	at = (size_t)row;
	*func = (struct function){
		.tab = tab,
		.entry = functab_entry_at(tab, index),
		.end = functab_entry_at(tab, index + 1),
		.offset = at,
		.id = optional_byte(tab, at, format->func_id),
		.nfuncdata = funcs->data[at + format->func_nfuncdata],
	};
	/* These cannot fail: the size of the description was checked. */
	span_u32(funcs, at + format->func_name, &func->name);
	span_u32(funcs, at + format->func_pcsp, &func->pcsp);
	span_u32(funcs, at + format->func_pcfile, &func->pcfile);
	span_u32(funcs, at + format->func_pcln, &func->pcln);
	span_u32(funcs, at + format->func_npcdata, &func->npcdata);
	if (format->func_cu)
		span_u32(funcs, at + format->func_cu, &func->cu);
	return 0;
}

/* The description is followed by npcdata words of 4 bytes, then by the funcdata words. */
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

/* Addresses are aligned as in memory; the linker aligns the table itself. */
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

bool functab_data(const struct functab *tab, uint64_t address, struct byte_span *span)
{
	uint64_t offset = address - tab->source.gofunc_address;

	if (address < tab->source.gofunc_address || offset >= tab->source.gofunc_size)
		return false;
	span->data = tab->source.gofunc + offset;
	span->size = tab->source.gofunc_size - (size_t)offset;
	return true;
}
