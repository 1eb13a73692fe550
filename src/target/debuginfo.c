/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "util/budget.h"
#include "util/safe_elf.h"

#define MAX_DEBUG    (384ull << 20) /* decompressed bytes of debug information */
#define SEARCH_NS    3000000000ull  /* CPU time */
#define MAX_TYPEDEFS 16
#define MAX_TYPES    16

/* Struct types named by the fields, each looked up once. */
struct types {
	const char *names[MAX_TYPES];
	Dwarf_Die dies[MAX_TYPES];
	bool found[MAX_TYPES];
	unsigned n, missing;
	struct budget budget;
};

static unsigned type_index(struct types *types, const char *name)
{
	unsigned i = 0;

	while (i < types->n && strcmp(types->names[i], name))
		i++;
	if (i == types->n && i < MAX_TYPES) {
		types->names[types->n++] = name;
		types->missing++;
	}
	return i;
}

static void note_type(struct types *types, Dwarf_Die *die)
{
	const char *name = dwarf_tag(die) == DW_TAG_structure_type ? dwarf_diename(die) : NULL;

	for (unsigned i = 0; name && i < types->n; i++) {
		if (!types->found[i] && strcmp(types->names[i], name) == 0) {
			types->dies[i] = *die;
			types->found[i] = true;
			types->missing--;
		}
	}
}

static void find_types(Dwarf *dwarf, struct types *types)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die root, die;
	uint8_t kind;

	for (unsigned i = 0; i < layout_field_count; i++)
		type_index(types, layout_fields[i].type);
	while (types->missing && budget_step(&types->budget) &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &root, NULL) == 0) {
		if (dwarf_child(&root, &die))
			continue;
		do {
			note_type(types, &die);
		} while (types->missing && budget_step(&types->budget) && dwarf_siblingof(&die, &die) == 0);
	}
}

static bool debuginfo_find_member(Dwarf_Die *type, const char *name, size_t len, Dwarf_Die *member)
{
	if (dwarf_child(type, member))
		return false;
	do {
		const char *found = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;

		if (found && strlen(found) == len && memcmp(found, name, len) == 0)
			return true;
	} while (dwarf_siblingof(member, member) == 0);
	return false;
}

/*
 * DW_OP_plus_uconst N, as written by Go's linker up to 1.10 (cmd/link/internal/ld/dwarf.go). Parsed here
 * because 1.9 used it in DWARF 4 units, where it is not allowed and elfutils rejects it.
 */
static bool block_offset(const Dwarf_Block *block, Dwarf_Word *value)
{
	Dwarf_Word shift = 0;

	if (block->length < 2 || block->length > 6 || block->data[0] != DW_OP_plus_uconst)
		return false;
	*value = 0;
	for (Dwarf_Word i = 1; i < block->length; i++, shift += 7) {
		*value |= (Dwarf_Word)(block->data[i] & 0x7f) << shift;
		if (!(block->data[i] & 0x80))
			return i + 1 == block->length;
	}
	return false;
}

static bool debuginfo_member_offset(Dwarf_Die *member, uint32_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Block block;
	Dwarf_Word value;

	if (!dwarf_attr(member, DW_AT_data_member_location, &attribute))
		return false;
	if (dwarf_formudata(&attribute, &value) &&
	    (dwarf_formblock(&attribute, &block) || !block_offset(&block, &value)))
		return false;
	if (value > LAYOUT_MOST_OFFSET - *offset)
		return false;
	*offset += (uint32_t)value;
	return true;
}

/* Gets the member's type without typedefs. dwarf_peel_type() would not terminate on a typedef cycle. */
static bool member_type(Dwarf_Die *member, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	*type = *member;
	for (unsigned i = 0; i < MAX_TYPEDEFS; i++) {
		if (!dwarf_attr_integrate(type, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, type))
			return false;
		if (dwarf_tag(type) != DW_TAG_typedef)
			return true;
	}
	return false;
}

/* Gets the offset of a path such as "sched.pc" in the type. */
static bool path_offset(Dwarf_Die type, const char *path, uint32_t *offset)
{
	Dwarf_Die member;

	*offset = 0;
	for (;;) {
		size_t len = strcspn(path, ".");

		if (!debuginfo_find_member(&type, path, len, &member) ||
		    !debuginfo_member_offset(&member, offset))
			return false;
		if (!path[len])
			return true;
		path += len + 1;
		if (!member_type(&member, &type))
			return false;
	}
}

static uint32_t field_offset(struct types *types, const struct layout_field *field)
{
	unsigned type = type_index(types, field->type);
	uint32_t offset;

	if (type >= MAX_TYPES || !types->found[type] || !path_offset(types->dies[type], field->path, &offset))
		return LAYOUT_ABSENT;
	return offset;
}

static int read_layout(Dwarf *dwarf, unsigned minor, struct layout *layout, struct error *err)
{
	struct types types = {.budget = {.cpu_ns = SEARCH_NS}};
	uint32_t offset = LAYOUT_ABSENT;

	budget_start(&types.budget);
	find_types(dwarf, &types);
	for (unsigned i = 0; i < layout_field_count; i++) {
		const struct layout_field *field = &layout_fields[i];

		if (offset == LAYOUT_ABSENT)
			offset = field_offset(&types, field);
		if (layout_field_has_next_row(i))
			continue;
		if (offset == LAYOUT_ABSENT && minor >= field->since && field->since != LAYOUT_OPTIONAL)
			return error_set(err, ENODATA, "its debug information does not have %s.%s",
					 field->type, field->path);
		layout_set(layout, field, offset);
		offset = LAYOUT_ABSENT;
	}
	return 0;
}

static bool symbol_in(Elf_Data *data, const GElf_Shdr *header, Elf *elf, const char *name, GElf_Sym *symbol)
{
	for (int i = 0; header->sh_entsize && (GElf_Xword)i < header->sh_size / header->sh_entsize; i++) {
		const char *found;

		if (!gelf_getsym(data, i, symbol))
			return false;
		found = elf_strptr(elf, header->sh_link, symbol->st_name);
		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

static bool find_symbol(Elf *elf, const char *name, GElf_Sym *symbol)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		if (data && symbol_in(data, &header, elf, name, symbol))
			return true;
	}
	return false;
}

/* Reads a Go string (pointer and length). Returns NULL if it is empty or damaged. */
static char *debuginfo_read_string(const struct image *image, uint64_t address)
{
	const uint8_t *bytes = image_bytes(image, address, 16);
	uint64_t text, len;

	if (!bytes || !image_pointer(image, address, &text) || !image_pointer(image, address + 8, &len) ||
	    !len || len > LAYOUT_MOST_REASON)
		return NULL;
	bytes = image_bytes(image, text, len);
	return bytes ? strndup((const char *)bytes, len) : NULL;
}

static void debuginfo_read_reasons(Elf *elf, const struct image *image, enum log_reason_table table,
				   struct reasons *reasons)
{
	const char **texts;
	GElf_Sym symbol;
	unsigned n;

	if (!reason_variable(table) || !find_symbol(elf, reason_variable(table), &symbol))
		return;
	n = symbol.st_size / 16 < LAYOUT_MOST_REASONS ? (unsigned)(symbol.st_size / 16) : LAYOUT_MOST_REASONS;
	texts = calloc(n + 1, sizeof(*texts));
	if (!texts)
		return;
	for (unsigned i = 0; i < n; i++)
		texts[i] = debuginfo_read_string(image, symbol.st_value + 16ull * i);
	*reasons = (struct reasons){.texts = texts, .n = n};
}

int debuginfo_release(int fd, const struct image *image, struct release *release, struct error *err)
{
	Dwarf *dwarf;
	Elf *elf;
	int rc;

	elf = safe_elf_file(fd);
	dwarf = elf && safe_elf_debug_size(elf) <= MAX_DEBUG ? dwarf_begin_elf(elf, DWARF_C_READ, NULL)
							     : NULL;
	rc = dwarf ? read_layout(dwarf, release->minor, &release->layout, err)
		   : error_set(err, ENODATA, "it has no debug information");
	for (int table = REASON_BLOCK; rc == 0 && table < REASON_TABLES; table++)
		debuginfo_read_reasons(elf, image, table, &release->reasons[table]);
	dwarf_end(dwarf);
	elf_end(elf);
	return rc;
}
