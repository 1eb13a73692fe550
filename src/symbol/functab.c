/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The function table as a whole: the checked header, names, and the search by address. */
#include "symbol/pclntab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Magic numbers: Go 1.26 internal/abi/symtab.go. A row per layout. */
static const struct pclntab_format formats[] = {
	{
		.magic = 0xfffffff1, /* Go 1.20 ... 1.26 */
		.header_size = 0x48,
		.nfunc = 0x08,
		.names = 0x20,
		.cutab = 0x28,
		.files = 0x30,
		.pctab = 0x38,
		.funcs = 0x40,
		.func_size = 0x2c,
		.func_name = 0x04,
		.func_pcsp = 0x10,
		.func_pcfile = 0x14,
		.func_pcln = 0x18,
		.func_npcdata = 0x1c,
		.func_cu = 0x20,
		.func_id = 0x28,
		.func_nfuncdata = 0x2b,
		.inline_size = 16,
		.inline_id = 0,
		.inline_name = 4,
		.inline_parent = 8,
	},
};

/* internal/abi/symtab.go of each release; from the first release on that has them. */
static const struct {
	uint32_t go_minor;
	struct func_ids ids;
} func_ids[] = {
	{25, {.gopanic = 10, .panicwrap = 15, .sigpanic = 20, .wrapper = 23}},
	{22, {.gopanic = 10, .panicwrap = 15, .sigpanic = 19, .wrapper = 22}},
};

/* One row of the table: u32 offset of the entry from text, u32 offset of the description. */
#define ROW_SIZE 8u
/* Names of generic instances are long; nothing real comes near this. */
#define MAX_STRING (64u << 10)
/* Inline trees farther from gofunc than this are not believed. */
#define MAX_GOFUNC (256u << 20)

bool span_u32(const struct span *span, size_t offset, uint32_t *value)
{
	const uint8_t *b;

	if (span->size < sizeof(*value) || offset > span->size - sizeof(*value))
		return false;
	b = span->data + offset;
	*value = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return true;
}

static bool span_u64(const struct span *span, size_t offset, uint64_t *value)
{
	uint32_t low, high;

	if (!span_u32(span, offset, &low) || !span_u32(span, offset + sizeof(low), &high))
		return false;
	*value = (uint64_t)high << 32 | low;
	return true;
}

const char *span_string(const struct span *span, size_t offset)
{
	size_t room;

	if (offset >= span->size)
		return NULL;
	room = span->size - offset;
	if (room > MAX_STRING)
		room = MAX_STRING;
	if (!memchr(span->data + offset, '\0', room))
		return NULL;
	return (const char *)span->data + offset;
}

static const struct pclntab_format *find_format(uint32_t magic)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].magic == magic)
			return &formats[i];
	}
	return NULL;
}

static const struct func_ids *find_func_ids(uint32_t go_minor)
{
	for (size_t i = 0; i < sizeof(func_ids) / sizeof(func_ids[0]); i++) {
		if (go_minor >= func_ids[i].go_minor)
			return &func_ids[i].ids;
	}
	return NULL;
}

static int check_header(struct functab *tab, struct span *all, struct error *err)
{
	uint32_t magic;

	if (!span_u32(all, 0, &magic))
		return error_set(err, EBADMSG, "function table: only %zu bytes", all->size);
	tab->format = find_format(magic);
	if (!tab->format)
		return error_set(
			err, ENOTSUP,
			"function table: format 0x%08x is not supported (Go 1.20 to 1.26 have 0x%08x)", magic,
			formats[0].magic);
	tab->ids = find_func_ids(tab->source.go_minor);
	if (!tab->ids)
		return error_set(err, ENOTSUP,
				 "function table: Go 1.%u is not supported (1.22 and later are)",
				 tab->source.go_minor);
	if (all->size < tab->format->header_size)
		return error_set(err, EBADMSG, "function table: header cut at %zu bytes", all->size);
	if (all->data[4] || all->data[5] || all->data[6] != 1 || all->data[7] != 8)
		return error_set(err, EBADMSG, "function table: not of a 64-bit x86 program");
	return 0;
}

/* The part that begins at the offset stored in the header. */
static int read_part(const struct span *all, size_t field, struct span *part, struct error *err)
{
	uint64_t offset = 0;

	if (!span_u64(all, field, &offset) || offset > all->size)
		return error_set(err, EBADMSG, "function table: offset 0x%llx at 0x%zx is past its %zu bytes",
				 (unsigned long long)offset, field, all->size);
	*part = (struct span){.data = all->data + offset, .size = all->size - (size_t)offset};
	return 0;
}

static int read_parts(struct functab *tab, const struct span *all, struct error *err)
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

/* index may be count: the end of the last function. In range once the table has been checked. */
static uint64_t entry_at(const struct functab *tab, size_t index)
{
	uint32_t offset = 0;

	span_u32(&tab->funcs, index * ROW_SIZE, &offset);
	return tab->source.text + offset;
}

/* The search needs rows in ascending order (the runtime's moduledataverify1 asks the same). */
static int check_rows(struct functab *tab, const struct span *all, struct error *err)
{
	uint64_t count = 0;

	span_u64(all, tab->format->nfunc, &count);
	if (tab->funcs.size < 4 || count > (tab->funcs.size - 4) / ROW_SIZE)
		return error_set(err, EBADMSG, "function table: %llu functions do not fit into %zu bytes",
				 (unsigned long long)count, tab->funcs.size);
	tab->count = (size_t)count;
	if (tab->source.text > UINT64_MAX - UINT32_MAX)
		return error_set(err, EBADMSG, "function table: no code can be at 0x%llx",
				 (unsigned long long)tab->source.text);
	for (size_t i = 0; i < tab->count; i++) {
		if (entry_at(tab, i) > entry_at(tab, i + 1))
			return error_set(err, EBADMSG, "function table: function %zu is not in order", i);
	}
	return 0;
}

struct functab *functab_new(const struct functab_source *source, struct error *err)
{
	struct span all = {.data = source->pclntab, .size = source->pclntab ? source->pclntab_size : 0};
	struct functab *tab = calloc(1, sizeof(*tab));

	if (!tab) {
		error_set(err, ENOMEM, "function table: out of memory");
		return NULL;
	}
	tab->source = *source;
	if (!source->gofunc)
		tab->source.gofunc_size = 0;
	if (check_header(tab, &all, err) || read_parts(tab, &all, err) || check_rows(tab, &all, err)) {
		free(tab);
		return NULL;
	}
	return tab;
}

void functab_free(struct functab *tab)
{
	free(tab);
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

/* Compares without looking for the end of the string in the table first. */
static bool has_name(const struct functab *tab, size_t index, const char *name, size_t size)
{
	uint32_t func, offset;

	if (!span_u32(&tab->funcs, index * ROW_SIZE + 4, &func) ||
	    !span_u32(&tab->funcs, (size_t)func + tab->format->func_name, &offset))
		return false;
	return offset < tab->names.size && tab->names.size - offset >= size &&
	       memcmp(tab->names.data + offset, name, size) == 0;
}

int functab_find(const struct functab *tab, const char *name, uint64_t *entry, uint64_t *end)
{
	size_t size = strlen(name) + 1;

	for (size_t i = 0; i < tab->count; i++) {
		if (!has_name(tab, i, name, size))
			continue;
		*entry = entry_at(tab, i);
		*end = entry_at(tab, i + 1);
		return 0;
	}
	return -ENOENT;
}

int functab_lookup(const struct functab *tab, uint64_t pc, size_t *index)
{
	size_t low = 0, high = tab->count;

	if (!tab->count || pc < entry_at(tab, 0) || pc >= entry_at(tab, tab->count))
		return -ENOENT;
	/* The last row at or below pc is in [low, high). */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (entry_at(tab, middle) <= pc)
			low = middle;
		else
			high = middle;
	}
	*index = low;
	return 0;
}

static size_t extent_of(const struct functab *tab, const struct function *func, uint64_t *budget)
{
	uint32_t offset;
	uint64_t end = 0;
	int32_t last;

	if (function_funcdata(tab, func, FUNCDATA_INL_TREE, &offset)) {
		last = pcvalue_max(tab, func, function_pcdata(tab, func, PCDATA_INL_TREE_INDEX), budget);
		if (last >= 0)
			end = offset + ((uint64_t)last + 1) * tab->format->inline_size;
	}
	if (function_funcdata(tab, func, FUNCDATA_WRAP_INFO, &offset) && end < (uint64_t)offset + 4)
		end = (uint64_t)offset + 4;
	return end <= MAX_GOFUNC ? (size_t)end : 0;
}

size_t functab_gofunc_extent(const struct functab *tab)
{
	/* Functions may share a table, but not all of them a long one. */
	uint64_t budget = (uint64_t)tab->source.pclntab_size * 16;
	size_t extent = 0;

	for (size_t i = 0; i < tab->count; i++) {
		struct function func;
		size_t end;

		if (function_read(tab, i, &func))
			continue;
		end = extent_of(tab, &func, &budget);
		if (end > extent)
			extent = end;
	}
	return extent;
}

uint64_t functab_start_pc(const struct functab *tab, uint64_t pc)
{
	struct span gofunc = {.data = tab->source.gofunc, .size = tab->source.gofunc_size};
	struct function func;
	uint32_t offset, text;
	size_t index;

	if (functab_lookup(tab, pc, &index) || function_read(tab, index, &func) ||
	    !function_funcdata(tab, &func, FUNCDATA_WRAP_INFO, &offset) || !span_u32(&gofunc, offset, &text))
		return pc;
	return tab->source.text + text;
}

int function_read(const struct functab *tab, size_t index, struct function *func)
{
	const struct pclntab_format *format = tab->format;
	const struct span *funcs = &tab->funcs;
	uint32_t offset;

	if (index >= tab->count)
		return -ERANGE;
	if (!span_u32(funcs, index * ROW_SIZE + 4, &offset) || funcs->size < format->func_size ||
	    offset > funcs->size - format->func_size)
		return -EBADMSG;
	func->entry = entry_at(tab, index);
	func->end = entry_at(tab, index + 1);
	func->offset = offset;
	func->id = funcs->data[offset + format->func_id];
	func->nfuncdata = funcs->data[offset + format->func_nfuncdata];
	/* These lie in the description, whose size was checked. */
	span_u32(funcs, offset + format->func_name, &func->name);
	span_u32(funcs, offset + format->func_pcsp, &func->pcsp);
	span_u32(funcs, offset + format->func_pcfile, &func->pcfile);
	span_u32(funcs, offset + format->func_pcln, &func->pcln);
	span_u32(funcs, offset + format->func_npcdata, &func->npcdata);
	span_u32(funcs, offset + format->func_cu, &func->cu);
	return 0;
}
