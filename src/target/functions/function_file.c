/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/function_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdw.h>

#include "util/array.h"
#include "util/budget.h"
#include "util/machine.h"

#define MAX_SYMBOLS (4u << 20)
#define MAX_CHUNK   (16u << 20)
#define SEARCH_NS   2000000000ull
#define WORD        8

/* --- symbols --- */

static int function_file_add_symbol(struct function_file *file, const struct function_symbol *symbol)
{
	if (file->n >= MAX_SYMBOLS ||
	    array_grow(&file->symbols, &file->capacity, file->n + 1, sizeof(*file->symbols)))
		return -ENOMEM;
	file->symbols[file->n++] = *symbol;
	return 0;
}

/* Local symbols follow the symbol of their source file (System V ABI, 4). */
static int read_table(struct function_file *file, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const char *source = NULL;
	int rc = 0;

	for (int i = 0; data && rc == 0; i++) {
		GElf_Sym symbol;
		const char *name;
		int type;

		if (!gelf_getsym(data, i, &symbol))
			break;
		type = GELF_ST_TYPE(symbol.st_info);
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (type == STT_FILE)
			source = name;
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF || !name ||
		    !*name)
			continue;
		rc = function_file_add_symbol(
			file, &(struct function_symbol){
				      .address = symbol.st_value,
				      .size = symbol.st_size,
				      .name = name,
				      .local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL,
				      .indirect = type == STT_GNU_IFUNC,
				      .source = GELF_ST_BIND(symbol.st_info) == STB_LOCAL ? source : NULL,
			      });
	}
	return rc;
}

static int function_file_read_section(struct function_file *file, const struct native_elf *from,
				      const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = native_elf_section(from, name, &header);

	return section ? read_table(file, from->elf, section, &header) : 0;
}

/* .dynsym is a subset of .symtab, but it survives stripping. */
static int read_symbols(struct function_file *file, const struct native_search *search)
{
	int rc = function_file_read_section(file, &file->elf, ".symtab");

	if (rc || file->n)
		return rc;
	if ((search && native_debug_find(search, &file->elf, &file->symbols_of) == 0) ||
	    native_elf_debugdata(&file->elf, &file->symbols_of) == 0)
		rc = function_file_read_section(file, &file->symbols_of, ".symtab");
	return rc ? rc : function_file_read_section(file, &file->elf, ".dynsym");
}

int function_file_open(struct function_file *file, int fd, const struct native_search *search)
{
	int rc;

	*file = (struct function_file){.symbols_of.fd = -1};
	rc = native_elf_open(&file->elf, fd);
	if (rc)
		return rc;
	rc = read_symbols(file, search);
	if (rc)
		function_file_close(file);
	return rc;
}

void function_file_close(struct function_file *file)
{
	if (file->has_code)
		module_free(&file->code);
	free(file->symbols);
	native_elf_close(&file->symbols_of);
	native_elf_close(&file->elf);
	*file = (struct function_file){.elf.fd = -1, .symbols_of.fd = -1};
}

/* --- callbacks of the search for probe points --- */

struct context {
	struct function_file *file;
	const struct function_symbol *symbol;
	size_t base;          /* length of the name that the function's parts share */
	struct budget budget; /* CPU time: each jump out of the function searches tables */
};

static const uint8_t *bytes_at(void *ctx, uint64_t address, size_t size)
{
	struct context *context = ctx;
	Elf *elf = context->file->elf.elf;
	size_t n = 0;

	if (size > MAX_CHUNK || elf_getphdrnum(elf, &n))
		return NULL;
	for (size_t i = 0; i < n && i < 256; i++) {
		GElf_Phdr header;
		uint64_t skip;
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		skip = address - header.p_vaddr;
		if (skip >= header.p_filesz || size > header.p_filesz - skip ||
		    header.p_offset > INT64_MAX - skip)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)(header.p_offset + skip), size, ELF_T_BYTE);
		return data && data->d_size >= size ? data->d_buf : NULL;
	}
	return NULL;
}

/* Finds the first dynamic relocation for this place (System V ABI for x86-64, 4.4). */
static bool relocation_at(struct context *context, uint64_t address, uint64_t *to)
{
	Elf *elf = context->file->elf.elf;
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Rela rela;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && budget_step(&context->budget) && gelf_getrela(data, i, &rela); i++) {
			if (rela.r_offset != address)
				continue;
			/* A relocation with a symbol refers to another function. */
			*to = GELF_R_TYPE(rela.r_info) == OWN_MACHINE_RELATIVE ? (uint64_t)rela.r_addend : 0;
			return true;
		}
	}
	return false;
}

static bool pointer_at(void *ctx, uint64_t address, uint64_t *to)
{
	struct context *context = ctx;
	const uint8_t *bytes;

	if (relocation_at(context, address, to))
		return true;
	bytes = bytes_at(ctx, address, sizeof(*to));
	if (bytes)
		memcpy(to, bytes, sizeof(*to));
	return bytes && *to;
}

static const struct unwind_row *row_at(const struct module_code *code, uint64_t address)
{
	size_t low = 0, high = code->rows.n;

	if (address - code->base >= code->size)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->rows.rows[middle].start <= address - code->base)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &code->rows.rows[low - 1] : NULL;
}

static int64_t distance_at(void *ctx, uint64_t address)
{
	struct function_file *file = ((struct context *)ctx)->file;
	const struct unwind_row *row;

	if (!file->has_code) {
		file->has_code = true;
		if (module_read(file->elf.fd, &file->code))
			file->code = (struct module_code){.n = 0};
	}
	row = row_at(&file->code, address);
	switch (row ? UNWIND_KIND(row->rule) : (uint32_t)UNWIND_NONE) {
	case UNWIND_SP_LINK:
		if (OWN_MACHINE != EM_AARCH64) /* vfork, which is not an ordinary function */
			return DISTANCE_UNKNOWN;
		return (int64_t)UNWIND_OFFSET(row->rule) * WORD;
	case UNWIND_SP:
	case UNWIND_SP_PAIR:
	case UNWIND_SP_FRAME:
	case UNWIND_SP_ALONE:
	case UNWIND_SP_APART:
		return (int64_t)UNWIND_OFFSET(row->rule) * WORD;
	case UNWIND_BP:
	case UNWIND_BP_DEREF:
	case UNWIND_SP_DEREF:
	case UNWIND_FP_FRAME:
		return DISTANCE_BY_FRAME;
	default:
		return DISTANCE_UNKNOWN;
	}
}

static bool part_at(void *ctx, uint64_t address, struct code_range *range)
{
	struct context *context = ctx;

	for (size_t i = 0; i < context->file->n && budget_step(&context->budget); i++) {
		const struct function_symbol *symbol = &context->file->symbols[i];

		if (address - symbol->address >= symbol->size ||
		    !function_is_part(symbol, context->symbol->name, context->base))
			continue;
		*range = (struct code_range){symbol->address, symbol->address + symbol->size};
		return true;
	}
	return false;
}

/*
 * A frame description begins with the function's start, relative to that field, and its length, in four bytes
 * each. Compilers and assemblers for x86-64 and arm64 write it like this (DW_EH_PE_pcrel | sdata4), although
 * other encodings exist.
 */
static bool describes(const Dwarf_CFI_Entry *entry, uint64_t at, uint64_t address, struct code_range *range)
{
	int32_t distance;
	uint32_t size;

	if (dwarf_cfi_cie_p(entry) || entry->fde.end - entry->fde.start < 8)
		return false;
	memcpy(&distance, entry->fde.start, sizeof(distance));
	memcpy(&size, entry->fde.start + sizeof(distance), sizeof(size));
	range->start = at + (uint64_t)(int64_t)distance;
	range->end = range->start + size;
	return address - range->start < size;
}

static bool range_at(void *ctx, uint64_t address, struct code_range *range)
{
	struct context *context = ctx;
	Elf *elf = context->file->elf.elf;
	GElf_Shdr header;
	Elf_Scn *section = native_elf_section(&context->file->elf, ".eh_frame", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Dwarf_CFI_Entry entry;
	Dwarf_Off at = 0, next;

	if (!data || !data->d_buf || !ident)
		return false;
	for (int rc = 0; rc >= 0 && budget_step(&context->budget); at = next) {
		uint64_t start;

		rc = dwarf_next_cfi(ident, data, true, at, &next, &entry);
		if (rc > 0 || next <= at)
			break;
		if (rc < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		start = header.sh_addr + (uint64_t)(entry.fde.start - (const uint8_t *)data->d_buf);
		if (describes(&entry, start, address, range))
			return true;
	}
	return false;
}

int function_file_probe_points(struct function_file *file, const struct function_symbol *symbol,
			       struct probe_points *points, struct error *err)
{
	struct context context = {.file = file,
				  .symbol = symbol,
				  .base = function_base(symbol->name),
				  .budget = {.cpu_ns = SEARCH_NS}};
	struct code_source source = {
		.arm64 = OWN_MACHINE == EM_AARCH64,
		.ctx = &context,
		.bytes = bytes_at,
		.pointer = pointer_at,
		.distance = distance_at,
		.part = part_at,
		.range = range_at,
	};
	struct code_range range = {symbol->address, symbol->address + symbol->size};
	int rc;

	budget_start(&context.budget);
	if (symbol->indirect)
		return error_set(err, ENOTSUP,
				 "the program chooses one of several implementations when it starts (IFUNC); "
				 "name that one");
	if (!symbol->size && !range_at(&context, symbol->address, &range))
		return error_set(err, ENOTSUP, "its symbol has no size");
	range.start = symbol->address;
	rc = probe_points_find(&source, range, points, err);
	return context.budget.spent ? error_set(err, ENOTSUP, "finding its returns takes too much CPU time")
				    : rc;
}
