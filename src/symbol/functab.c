/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The function table as a whole: the checked header, names, and the search by address. */
#include "symbol/pclntab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A row per layout, of one magic number the oldest first. Go 1.4 runtime/runtime.h
 * (struct Func), later runtime/runtime2.go and symtab.go.
 */
static const struct pclntab_format formats[] = {
	{
		/* No inlining is recorded; nfuncdata is a word, of which the low byte is enough. */
		.magic = 0xfffffffb,
		.first = 4,
		.last = 8,
		.header_size = 0x10,
		.nfunc = 0x08,
		.rows = 0x10,
		.word_size = 8,
		.func_size = 0x28,
		.func_name = 0x08,
		.func_pcsp = 0x14,
		.func_pcfile = 0x18,
		.func_pcln = 0x1c,
		.func_npcdata = 0x20,
		.func_nfuncdata = 0x24,
		.funcdata_size = 8,
	},
	{
		/* Inline trees. */
		.magic = 0xfffffffb,
		.first = 9,
		.last = 9,
		.header_size = 0x10,
		.nfunc = 0x08,
		.rows = 0x10,
		.word_size = 8,
		.func_size = 0x28,
		.func_name = 0x08,
		.func_pcsp = 0x14,
		.func_pcfile = 0x18,
		.func_pcln = 0x1c,
		.func_npcdata = 0x20,
		.func_nfuncdata = 0x24,
		.funcdata_size = 8,
		.inline_size = 16,
		.inline_name = 12,
		.inline_parent = 0,
		.inline_file = 4,
		.inline_line = 8,
	},
	{
		/* FuncIDs, in a word. */
		.magic = 0xfffffffb,  .first = 10,
		.last = 11,           .header_size = 0x10,
		.nfunc = 0x08,        .rows = 0x10,
		.word_size = 8,       .func_size = 0x28,
		.func_name = 0x08,    .func_pcsp = 0x14,
		.func_pcfile = 0x18,  .func_pcln = 0x1c,
		.func_npcdata = 0x20, .func_nfuncdata = 0x24,
		.func_id = 0x10,      .funcdata_size = 8,
		.inline_size = 16,    .inline_name = 12,
		.inline_parent = 0,   .inline_file = 4,
		.inline_line = 8,
	},
	{
		/* FuncIDs in a byte, and in the trees; nfuncdata in a byte. */
		.magic = 0xfffffffb,  .first = 12,
		.last = 15,           .header_size = 0x10,
		.nfunc = 0x08,        .rows = 0x10,
		.word_size = 8,       .func_size = 0x28,
		.func_name = 0x08,    .func_pcsp = 0x14,
		.func_pcfile = 0x18,  .func_pcln = 0x1c,
		.func_npcdata = 0x20, .func_nfuncdata = 0x27,
		.func_id = 0x24,      .funcdata_size = 8,
		.inline_size = 20,    .inline_id = 2,
		.inline_name = 12,    .inline_parent = 16,
	},
	{
		/* A pcHeader; files by compilation unit. */
		.magic = 0xfffffffa, .first = 16,          .last = 17,
		.header_size = 0x40, .nfunc = 0x08,        .names = 0x18,
		.cutab = 0x20,       .files = 0x28,        .pctab = 0x30,
		.funcs = 0x38,       .word_size = 8,       .func_size = 0x2c,
		.func_name = 0x08,   .func_pcsp = 0x14,    .func_pcfile = 0x18,
		.func_pcln = 0x1c,   .func_npcdata = 0x20, .func_nfuncdata = 0x2b,
		.func_cu = 0x24,     .func_id = 0x28,      .funcdata_size = 8,
		.inline_size = 20,   .inline_id = 2,       .inline_name = 12,
		.inline_parent = 16,
	},
	{
		/* Offsets for addresses, a word textStart before the names. */
		.magic = 0xfffffff0, .first = 18,          .last = 19,
		.header_size = 0x48, .nfunc = 0x08,        .names = 0x20,
		.cutab = 0x28,       .files = 0x30,        .pctab = 0x38,
		.funcs = 0x40,       .word_size = 4,       .func_size = 0x28,
		.func_name = 0x04,   .func_pcsp = 0x10,    .func_pcfile = 0x14,
		.func_pcln = 0x18,   .func_npcdata = 0x1c, .func_nfuncdata = 0x27,
		.func_cu = 0x20,     .func_id = 0x24,      .funcdata_size = 4,
		.inline_size = 20,   .inline_id = 2,       .inline_name = 12,
		.inline_parent = 16,
	},
	{
		/* startLine in _func, smaller trees. */
		.magic = 0xfffffff1, .first = 20,          .last = UINT8_MAX,
		.header_size = 0x48, .nfunc = 0x08,        .names = 0x20,
		.cutab = 0x28,       .files = 0x30,        .pctab = 0x38,
		.funcs = 0x40,       .word_size = 4,       .func_size = 0x2c,
		.func_name = 0x04,   .func_pcsp = 0x10,    .func_pcfile = 0x14,
		.func_pcln = 0x18,   .func_npcdata = 0x1c, .func_nfuncdata = 0x2b,
		.func_cu = 0x20,     .func_id = 0x28,      .funcdata_size = 4,
		.inline_size = 16,   .inline_id = 0,       .inline_name = 4,
		.inline_parent = 8,
	},
};

/*
 * From the newest on, the first whose release is not newer than the program's.
 * Ids: runtime/symtab.go, from 1.21 on internal/abi/symtab.go. Tables:
 * runtime/funcdata.h. Frames: gentraceback (runtime/traceback.go),
 * CallersFrames (runtime/symtab.go) and how runtime/trace.go uses them.
 */
static const struct release_rules release_rules[] = {
	{
		.go_minor = 25,
		.short_names = true,
		.ids = {.gopanic = 10, .panicwrap = 15, .sigpanic = 20, .wrapper = 23},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = 7,
		.elide = ELIDE_BY_ID,
	},
	{
		.go_minor = 22,
		.short_names = true,
		.ids = {.gopanic = 10, .panicwrap = 15, .sigpanic = 19, .wrapper = 22},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = 7,
		.elide = ELIDE_BY_ID,
	},
	{
		.go_minor = 21,
		.short_names = true,
		.ids = {.gopanic = 9, .panicwrap = 14, .sigpanic = 18, .wrapper = 21},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = 7,
		.elide = ELIDE_BY_ID,
	},
	{
		.go_minor = 18,
		.ids = {.gopanic = 9, .panicwrap = 14, .sigpanic = 18, .wrapper = 21},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = 7,
		.elide = ELIDE_BY_ID,
		.at_return = true,
		.exact_faults = true,
	},
	{
		.go_minor = 17,
		.ids = {.gopanic = 9, .panicwrap = 15, .sigpanic = 19, .wrapper = 22},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
		.exact_faults = true,
	},
	{
		.go_minor = 16,
		.ids = {.gopanic = 18, .panicwrap = 19, .sigpanic = 9, .wrapper = 22},
		.pcdata_inline = 2,
		.funcdata_inline = 3,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
		.exact_faults = true,
	},
	{
		.go_minor = 14,
		.ids = {.gopanic = 18, .panicwrap = 19, .sigpanic = 9, .wrapper = 22},
		.pcdata_inline = 2,
		.funcdata_inline = 4,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
		.exact_faults = true,
	},
	{
		.go_minor = 13,
		.ids = {.gopanic = 18, .panicwrap = 19, .sigpanic = 9, .wrapper = 20},
		.pcdata_inline = 2,
		.funcdata_inline = 4,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
	},
	{
		.go_minor = 12,
		.ids = {.gopanic = 18, .panicwrap = 19, .sigpanic = 9, .wrapper = 20},
		.pcdata_inline = 1,
		.funcdata_inline = 2,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_ID,
		.at_return = true,
	},
	{
		.go_minor = 10,
		.pcdata_inline = 1,
		.funcdata_inline = 2,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_BY_FILE,
		.at_return = true,
		.tree_by_index = true,
		.exact_faults = true,
	},
	{
		.go_minor = 9,
		.pcdata_inline = 1,
		.funcdata_inline = 2,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_NONE,
		.at_return = true,
		.tree_by_index = true,
		.exact_faults = true,
	},
	{
		.go_minor = 4,
		.pcdata_inline = NO_TABLE,
		.funcdata_inline = NO_TABLE,
		.funcdata_wrapped = NO_TABLE,
		.elide = ELIDE_NONE,
		.at_return = true,
		.written_raw = true,
	},
};

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

bool span_u64(const struct span *span, size_t offset, uint64_t *value)
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

/* Without a release the oldest that has the magic number: names and addresses are the same in all of them. */
static const struct pclntab_format *find_format(uint32_t magic, uint32_t go_minor)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const struct pclntab_format *format = &formats[i];

		if (format->magic == magic &&
		    (go_minor == 0 || (go_minor >= format->first && go_minor <= format->last)))
			return format;
	}
	return NULL;
}

static const struct release_rules *find_rules(uint32_t go_minor)
{
	for (size_t i = 0; i < sizeof(release_rules) / sizeof(release_rules[0]); i++) {
		if (go_minor >= release_rules[i].go_minor)
			return &release_rules[i];
	}
	return NULL;
}

static int refuse_format(uint32_t magic, uint32_t go_minor, struct error *err)
{
	const struct pclntab_format *other = find_format(magic, 0);

	if (!other)
		return error_set(err, ENOTSUP,
				 "function table: unknown format 0x%08x (Go 1.4 to 1.26 have 0xfffffffb, "
				 "0xfffffffa, 0xfffffff0 or 0xfffffff1)",
				 magic);
	return error_set(err, ENOTSUP,
			 "function table: format 0x%08x is from Go 1.%u on, but the program is of Go 1.%u: "
			 "it is damaged or not the program's own",
			 magic, other->first, go_minor);
}

static int check_header(struct functab *tab, struct span *all, struct error *err)
{
	uint32_t magic, go_minor = tab->source.go_minor;

	if (!span_u32(all, 0, &magic))
		return error_set(err, EBADMSG, "function table: only %zu bytes", all->size);
	tab->format = find_format(magic, go_minor);
	if (!tab->format)
		return refuse_format(magic, go_minor, err);
	tab->rules = find_rules(go_minor ? go_minor : tab->format->first);
	if (!tab->rules)
		return error_set(err, ENOTSUP, "function table: Go 1.%u is not supported (1.4 and later are)",
				 go_minor);
	if (all->size < tab->format->header_size)
		return error_set(err, EBADMSG, "function table: header cut at %zu bytes", all->size);
	tab->quantum = all->data[6];
	if (all->data[4] || all->data[5] || (tab->quantum != 1 && tab->quantum != 4) || all->data[7] != 8)
		return error_set(err, EBADMSG, "function table: not of a 64-bit x86 or arm64 program");
	return 0;
}

/* The part that begins at the offset stored in the header. */
static int read_part(const struct span *all, size_t field, struct span *part, struct error *err)
{
	uint64_t offset = 0;

	if (field && (!span_u64(all, field, &offset) || offset > all->size))
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

/* One of the two words of a row. */
static bool row_word(const struct functab *tab, size_t index, unsigned word, uint64_t *value)
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

/* index may be count: the end of the last function. In range once the table has been checked. */
static uint64_t entry_at(const struct functab *tab, size_t index)
{
	uint64_t entry = 0;

	row_word(tab, index, 0, &entry);
	return entry + (tab->format->word_size == sizeof(entry) ? tab->source.bias : tab->source.text);
}

/* The search needs rows in ascending order (the runtime's moduledataverify1 asks the same). */
static int check_rows(struct functab *tab, const struct span *all, struct error *err)
{
	const size_t word = tab->format->word_size, before = tab->format->rows + word;
	uint64_t count = 0;

	span_u64(all, tab->format->nfunc, &count);
	if (tab->funcs.size < before || count > (tab->funcs.size - before) / (2 * word))
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

/*
 * Up to 1.15 the rows end with half a row, the offset of the file table: a
 * count, which counts itself, and offsets of names (symtabinit in Go 1.4
 * runtime/symtab.go, later cmd/link's pclntab).
 */
static int read_files(struct functab *tab, const struct span *all, struct error *err)
{
	uint32_t offset, count;

	if (tab->format->cutab)
		return 0;
	if (!span_u32(all, tab->format->rows + tab->count * 16 + 8, &offset) ||
	    !span_u32(all, offset, &count) || (uint64_t)count * 4 > all->size - offset)
		return error_set(err, EBADMSG, "function table: its list of files is past its %zu bytes",
				 all->size);
	tab->cutab = (struct span){.data = all->data + offset, .size = (size_t)count * 4};
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
	if (check_header(tab, &all, err) || read_parts(tab, &all, err) || check_rows(tab, &all, err) ||
	    read_files(tab, &all, err)) {
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
	uint64_t func;
	uint32_t offset;

	if (!row_word(tab, index, 1, &func) || func > tab->funcs.size ||
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

/* Addresses [from, to) of data that functions have apart from the table. */
struct range {
	uint64_t from, to;
};

static void range_add(struct range *range, const struct functab *tab, uint64_t from, uint64_t size)
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

static void range_add_function(struct range *range, const struct functab *tab, const struct function *func,
			       uint64_t *budget)
{
	const struct release_rules *rules = tab->rules;
	uint64_t address;
	int32_t last;

	if (tab->format->inline_size && function_funcdata(tab, func, rules->funcdata_inline, &address)) {
		last = pcvalue_max(tab, func, function_pcdata(tab, func, rules->pcdata_inline), budget);
		if (last >= 0)
			range_add(range, tab, address, ((uint64_t)last + 1) * tab->format->inline_size);
	}
	if (function_funcdata(tab, func, rules->funcdata_wrapped, &address))
		range_add(range, tab, address, sizeof(uint32_t));
}

bool functab_gofunc_range(const struct functab *tab, uint64_t *from, uint64_t *to)
{
	/* Functions may share a table, but not all of them a long one. */
	uint64_t budget = (uint64_t)tab->source.pclntab_size * 16;
	struct range range = {.from = UINT64_MAX};

	for (size_t i = 0; i < tab->count; i++) {
		struct function func;

		if (function_read(tab, i, &func) == 0)
			range_add_function(&range, tab, &func, &budget);
	}
	/* Offsets count from where the process has them. */
	if (range.to && tab->format->funcdata_size == sizeof(uint32_t))
		range.from = tab->source.gofunc_address;
	if (range.to <= range.from || range.to - range.from > MAX_GOFUNC)
		return false;
	*from = range.from;
	*to = range.to;
	return true;
}

/* Reads from the table alone: functions may share what is written. */
void functab_relocate(const struct functab *tab, uint8_t *copy)
{
	uint8_t *funcs = copy + (tab->funcs.data - tab->source.pclntab);
	uint64_t address;
	size_t at;

	if (tab->format->word_size != sizeof(address))
		return;
	for (size_t i = 0; i <= tab->count; i++) {
		struct function func;

		address = entry_at(tab, i);
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
	struct span wrapped;
	uint64_t address;
	uint32_t text;
	size_t index;

	if (functab_lookup(tab, pc, &index) || function_read(tab, index, &func) ||
	    !function_funcdata(tab, &func, tab->rules->funcdata_wrapped, &address) ||
	    !functab_data(tab, address, &wrapped) || !span_u32(&wrapped, 0, &text))
		return pc;
	return tab->source.text + text;
}

/* A field that not all releases have: its offset is 0 where there is none. */
static uint8_t optional_byte(const struct functab *tab, size_t func, uint8_t field)
{
	return field ? tab->funcs.data[func + field] : 0;
}

int function_read(const struct functab *tab, size_t index, struct function *func)
{
	const struct pclntab_format *format = tab->format;
	const struct span *funcs = &tab->funcs;
	uint64_t row;
	size_t at;

	if (index >= tab->count)
		return -ERANGE;
	if (!row_word(tab, index, 1, &row) || funcs->size < format->func_size ||
	    row > funcs->size - format->func_size)
		return -EBADMSG;
	at = (size_t)row;
	*func = (struct function){
		.entry = entry_at(tab, index),
		.end = entry_at(tab, index + 1),
		.offset = at,
		.id = optional_byte(tab, at, format->func_id),
		.nfuncdata = funcs->data[at + format->func_nfuncdata],
	};
	/* These lie in the description, whose size was checked. */
	span_u32(funcs, at + format->func_name, &func->name);
	span_u32(funcs, at + format->func_pcsp, &func->pcsp);
	span_u32(funcs, at + format->func_pcfile, &func->pcfile);
	span_u32(funcs, at + format->func_pcln, &func->pcln);
	span_u32(funcs, at + format->func_npcdata, &func->npcdata);
	if (format->func_cu)
		span_u32(funcs, at + format->func_cu, &func->cu);
	return 0;
}
