/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The function table as a whole: header checks, names, and search by address. */
#include "code/symbol/functab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/pclntab.h"
#include "code/symbol/pcvalue.h"

/* Inline trees at a greater distance from gofunc are rejected. */
#define MAX_GOFUNC (256u << 20)

static int refuse_format(uint32_t magic, uint32_t go_minor, struct error *err)
{
	const struct pclntab_format *other = pclntab_format_find(magic, 0);

	if (!other)
		return error_set(err, ENOTSUP,
				 "function table: unknown format 0x%08x (Go 1.4 to 1.27 use 0xfffffffb, "
				 "0xfffffffa, 0xfffffff0 or 0xfffffff1)",
				 magic);
	return error_set(err, ENOTSUP,
			 "function table: format 0x%08x is that of Go 1.%u and later, but Go 1.%u built the "
			 "program: the table is damaged or not that of the program",
			 magic, other->first, go_minor);
}

static int functab_check_header(struct functab *tab, struct byte_span *all, struct error *err)
{
	uint32_t magic, go_minor = tab->source.go_minor;

	if (!span_u32(all, 0, &magic))
		return error_set(err, EBADMSG, "function table: only %zu bytes", all->size);
	tab->format = pclntab_format_find(magic, go_minor);
	if (!tab->format)
		return refuse_format(magic, go_minor, err);
	tab->rules = release_rules_find(go_minor ? go_minor : tab->format->first);
	if (!tab->rules)
		return error_set(err, ENOTSUP,
				 "function table: Go 1.%u is not supported (gotrace supports 1.4 and later)",
				 go_minor);
	if (all->size < tab->format->header_size)
		return error_set(err, EBADMSG, "function table: header truncated at %zu bytes", all->size);
	tab->quantum = all->data[6];
	if (all->data[4] || all->data[5] || (tab->quantum != 1 && tab->quantum != 4) || all->data[7] != 8)
		return error_set(err, EBADMSG, "function table: not of a 64-bit x86 or arm64 program");
	return 0;
}

/* Gets the part of the table that begins at the offset in this header field. */
static int read_part(const struct byte_span *all, size_t field, struct byte_span *part, struct error *err)
{
	uint64_t offset = 0;

	if (field && (!span_u64(all, field, &offset) || offset > all->size))
		return error_set(
			err, EBADMSG,
			"function table: offset 0x%llx at 0x%zx is beyond the end of the table (%zu bytes)",
			(unsigned long long)offset, field, all->size);
	*part = (struct byte_span){.data = all->data + offset, .size = all->size - (size_t)offset};
	return 0;
}

static int read_parts(struct functab *tab, const struct byte_span *all, struct error *err)
{
	const struct pclntab_format *format = tab->format;

	if (read_part(all, format->names, &tab->names, err) ||
	    read_part(all, format->cutab, &tab->cutab, err) ||
	    read_part(all, format->files, &tab->files, err) ||
	    read_part(all, format->pctab, &tab->pctab, err) ||
	    read_part(all, format->funcs, &tab->funcs, err))
		return -EBADMSG;
	return 0;
}

/* Binary search needs rows in ascending order (the runtime's moduledataverify1 requires the same). */
static int check_rows(struct functab *tab, const struct byte_span *all, struct error *err)
{
	const size_t word = tab->format->word_size, before = tab->format->rows + word;
	uint64_t count = 0;

	span_u64(all, tab->format->nfunc, &count);
	if (tab->funcs.size < before || count > (tab->funcs.size - before) / (2 * word))
		return error_set(err, EBADMSG, "function table: %llu functions do not fit into %zu bytes",
				 (unsigned long long)count, tab->funcs.size);
	tab->count = (size_t)count;
	if (tab->source.text > UINT64_MAX - UINT32_MAX)
		return error_set(err, EBADMSG, "function table: 0x%llx is not a valid code address",
				 (unsigned long long)tab->source.text);
	for (size_t i = 0; i < tab->count; i++) {
		if (functab_entry_at(tab, i) > functab_entry_at(tab, i + 1))
			return error_set(err, EBADMSG, "function table: function %zu is not in order", i);
	}
	return 0;
}

/*
 * Up to 1.15 the rows are followed by the offset of the file table. That table is a count, which includes
 * itself, and offsets of names (symtabinit in Go 1.4 runtime/symtab.go, later cmd/link's pclntab).
 */
static int read_files(struct functab *tab, const struct byte_span *all, struct error *err)
{
	uint32_t offset, count;

	if (tab->format->cutab)
		return 0;
	if (!span_u32(all, tab->format->rows + tab->count * 16 + 8, &offset) ||
	    !span_u32(all, offset, &count) || (uint64_t)count * 4 > all->size - offset)
		return error_set(
			err, EBADMSG,
			"function table: its list of files is beyond the end of the table (%zu bytes)",
			all->size);
	tab->cutab = (struct byte_span){.data = all->data + offset, .size = (size_t)count * 4};
	return 0;
}

struct functab *functab_new(const struct functab_source *source, struct error *err)
{
	struct byte_span all = {.data = source->pclntab, .size = source->pclntab ? source->pclntab_size : 0};
	struct functab *tab = calloc(1, sizeof(*tab));

	if (!tab) {
		error_set(err, ENOMEM, "function table: out of memory");
		return NULL;
	}
	tab->source = *source;
	if (!source->gofunc)
		tab->source.gofunc_size = 0;
	if (functab_check_header(tab, &all, err) || read_parts(tab, &all, err) ||
	    check_rows(tab, &all, err) || read_files(tab, &all, err)) {
		free(tab);
		return NULL;
	}
	return tab;
}

void functab_free(struct functab *tab)
{
	while (tab) {
		struct functab *next = tab->next;

		free(tab);
		tab = next;
	}
}

void functab_add(struct functab *tab, struct functab *other)
{
	while (tab->next)
		tab = tab->next;
	tab->next = other;
}

const struct functab *functab_with(const struct functab *tab, uint64_t pc)
{
	for (const struct functab *one = tab; one; one = one->next) {
		if (pc >= one->source.text && pc < one->source.etext)
			return one;
	}
	return tab;
}

size_t functab_count(const struct functab *tab)
{
	return tab->count;
}

void functab_range(const struct functab *tab, uint64_t *from, uint64_t *to)
{
	*from = tab->source.text;
	*to = tab->source.etext;
}

int functab_entry(const struct functab *tab, size_t index, uint64_t *entry, uint64_t *end, const char **name)
{
	struct function func;
	int ret = function_read(tab, index, &func);

	if (ret)
		return ret;
	*name = func.name ? span_string(&tab->names, func.name) : "";
	if (!*name)
		return -EBADMSG;
	*entry = func.entry;
	*end = func.end;
	return 0;
}

/* Compares without first searching for the end of the string in the table. */
static bool function_has_name(const struct functab *tab, size_t index, const char *name, size_t size)
{
	uint64_t func;
	uint32_t offset;

	if (!functab_row_word(tab, index, 1, &func) || func > tab->funcs.size ||
	    !span_u32(&tab->funcs, (size_t)func + tab->format->func_name, &offset))
		return false;
	return offset < tab->names.size && tab->names.size - offset >= size &&
	       memcmp(tab->names.data + offset, name, size) == 0;
}

int functab_find(const struct functab *tab, const char *name, uint64_t *entry, uint64_t *end)
{
	size_t size = strlen(name) + 1;

	for (size_t i = 0; i < tab->count; i++) {
		if (!function_has_name(tab, i, name, size))
			continue;
		*entry = functab_entry_at(tab, i);
		*end = functab_entry_at(tab, i + 1);
		return 0;
	}
	return -ENOENT;
}

int functab_lookup(const struct functab *tab, uint64_t pc, size_t *index)
{
	size_t low = 0, high = tab->count;

	if (!tab->count || pc < functab_entry_at(tab, 0) || pc >= functab_entry_at(tab, tab->count))
		return -ENOENT;
	/* The last row at or below pc is in [low, high). */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (functab_entry_at(tab, middle) <= pc)
			low = middle;
		else
			high = middle;
	}
	*index = low;
	return 0;
}

/* Address range [from, to) of functions' data outside of the table. */
struct address_range {
	uint64_t from, to;
};

static void address_range_add(struct address_range *range, const struct functab *tab, uint64_t from,
			      uint64_t size)
{
	if (from > UINT64_MAX - size)
		return;
	if (tab->format->funcdata_size == sizeof(uint32_t) &&
	    from + size - tab->source.gofunc_address > MAX_GOFUNC)
		return;
	if (range->from > from)
		range->from = from;
	if (range->to < from + size)
		range->to = from + size;
}

static void range_add_function(struct address_range *range, const struct functab *tab,
			       const struct function *func, uint64_t *budget)
{
	const struct release_rules *rules = tab->rules;
	uint64_t address;
	int32_t last;

	if (tab->format->inline_size && function_funcdata(tab, func, rules->funcdata_inline, &address)) {
		last = pcvalue_max(tab, func, function_pcdata(tab, func, rules->pcdata_inline), budget);
		if (last >= 0)
			address_range_add(range, tab, address,
					  ((uint64_t)last + 1) * tab->format->inline_size);
	}
	if (function_funcdata(tab, func, rules->funcdata_wrapped, &address))
		address_range_add(range, tab, address, sizeof(uint32_t));
}

bool functab_gofunc_range(const struct functab *tab, uint64_t *from, uint64_t *to)
{
	/* Functions may share a table. The budget stops the search if all of them share a long one. */
	uint64_t budget = (uint64_t)tab->source.pclntab_size * 16;
	struct address_range range = {.from = UINT64_MAX};

	for (size_t i = 0; i < tab->count; i++) {
		struct function func;

		if (function_read(tab, i, &func) == 0)
			range_add_function(&range, tab, &func, &budget);
	}
	/* Offsets are relative to this address. */
	if (range.to && tab->format->funcdata_size == sizeof(uint32_t))
		range.from = tab->source.gofunc_address;
	if (range.to <= range.from || range.to - range.from > MAX_GOFUNC)
		return false;
	*from = range.from;
	*to = range.to;
	return true;
}

/* Reads only the original table: functions may share words, which would otherwise be relocated twice. */
void functab_relocate(const struct functab *tab, uint8_t *copy)
{
	uint8_t *funcs = copy + (tab->funcs.data - tab->source.pclntab);
	uint64_t address;
	size_t at;

	if (tab->format->word_size != sizeof(address))
		return;
	for (size_t i = 0; i <= tab->count; i++) {
		struct function func;

		address = functab_entry_at(tab, i);
		memcpy(funcs + tab->format->rows + i * 2 * sizeof(address), &address, sizeof(address));
		if (i < tab->count && function_read(tab, i, &func) == 0 &&
		    function_funcdata(tab, &func, tab->rules->funcdata_inline, &address) &&
		    function_funcdata_at(tab, &func, tab->rules->funcdata_inline, &at))
			memcpy(funcs + at, &address, sizeof(address));
	}
}

uint64_t functab_start_pc(const struct functab *tab, uint64_t pc)
{
	struct function func;
	struct byte_span wrapped;
	uint64_t address;
	uint32_t text;
	size_t index;

	tab = functab_with(tab, pc);
	if (functab_lookup(tab, pc, &index) || function_read(tab, index, &func) ||
	    !function_funcdata(tab, &func, tab->rules->funcdata_wrapped, &address) ||
	    !functab_data(tab, address, &wrapped) || !span_u32(&wrapped, 0, &text))
		return pc;
	return tab->source.text + text;
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
