/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/position.h"

#include "code/symbol/pcvalue.h"

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
	struct byte_span tree;
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
