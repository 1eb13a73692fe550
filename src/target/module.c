/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/module.h"

#include <errno.h>
#include <string.h>

/* pcHeader of Go 1.20 to 1.26 (runtime/symtab.go): magic, two zeros, instruction and pointer size. */
static const uint8_t magic[8] = {0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8};

#define HEADER_SIZE  0x48
#define HEADER_NAMES 0x20 /* offset of the function names */

/* Up to 1.25 a PIE has its table among the data that the dynamic linker relocates. */
static const char *const table_sections[] = {".gopclntab", ".data.rel.ro.gopclntab"};

/* Whether moduledata can be here, and if so what it says. */
static bool read_module(const struct image *image, const struct runtime_offsets *offsets, uint64_t address,
			struct module *module)
{
	uint64_t table = 0, len = 0;
	size_t room;

	module->address = address;
	if (!image_pointer(image, address + offsets->module_text, &module->text) ||
	    !image_pointer(image, address + offsets->module_etext, &module->etext) ||
	    !image_pointer(image, address + offsets->module_gofunc, &module->gofunc) ||
	    !image_pointer(image, address + offsets->module_pclntable, &table) ||
	    !image_pointer(image, address + offsets->module_pclntable + 8, &len))
		return false;
	image_rest(image, module->pclntab, &room);
	if (table < module->pclntab || table - module->pclntab > room ||
	    len > room - (table - module->pclntab))
		return false;
	module->pclntab_size = table - module->pclntab + len;
	return module->text < module->etext &&
	       image_bytes(image, module->text, module->etext - module->text) &&
	       image_bytes(image, module->gofunc, 1);
}

/* moduledata begins with the address of the table and that of the names in it. */
static bool is_pair(const struct image *image, uint64_t address, uint64_t names)
{
	uint64_t second;

	return image_pointer(image, address + 8, &second) && second == names;
}

static bool find_by_words(const struct image *image, const struct runtime_offsets *offsets, uint64_t names,
			  struct module *module)
{
	for (unsigned i = 0; i < image->n; i++) {
		const struct segment *segment = &image->segments[i];
		const uint8_t *bytes = image->data + segment->offset;
		uint64_t word, skip = -segment->address % 8;

		if (!segment->writable)
			continue;
		for (uint64_t at = skip; at < segment->file_size && segment->file_size - at >= 16; at += 8) {
			memcpy(&word, bytes + at, sizeof(word));
			if (word == module->pclntab && is_pair(image, segment->address + at, names) &&
			    read_module(image, offsets, segment->address + at, module))
				return true;
		}
	}
	return false;
}

static bool find_by_relocations(const struct image *image, const struct runtime_offsets *offsets,
				uint64_t names, struct module *module)
{
	uint64_t address, value;

	for (size_t i = 0; i < image->nrela; i++) {
		if (image_relocation(image, i, &address, &value) && value == module->pclntab &&
		    is_pair(image, address, names) && read_module(image, offsets, address, module))
			return true;
	}
	return false;
}

/* The module whose table is at the address, if there is one. */
static bool find_for_table(const struct image *image, const struct runtime_offsets *offsets, uint64_t address,
			   struct module *module)
{
	const uint8_t *header = image_bytes(image, address, HEADER_SIZE);
	uint64_t names;

	if (!header || memcmp(header, magic, sizeof(magic)))
		return false;
	memcpy(&names, header + HEADER_NAMES, sizeof(names));
	names += address;
	*module = (struct module){.pclntab = address};
	return find_by_words(image, offsets, names, module) ||
	       find_by_relocations(image, offsets, names, module);
}

/* Each candidate costs a search of the data; a real image has one or two. */
#define MAX_CANDIDATES 64

static bool scan(const struct image *image, const struct runtime_offsets *offsets, struct module *module)
{
	int candidates = 0;

	for (unsigned i = 0; i < image->n; i++) {
		const struct segment *segment = &image->segments[i];
		const uint8_t *bytes = image->data + segment->offset;

		for (uint64_t at = -segment->address % 8;
		     at < segment->file_size && segment->file_size - at >= HEADER_SIZE; at += 8) {
			if (memcmp(bytes + at, magic, sizeof(magic)))
				continue;
			if (find_for_table(image, offsets, segment->address + at, module))
				return true;
			if (++candidates == MAX_CANDIDATES)
				return false;
		}
	}
	return false;
}

int module_find(const struct image *image, const struct runtime_offsets *offsets, struct module *module,
		struct error *err)
{
	struct section section;

	for (size_t i = 0; i < sizeof(table_sections) / sizeof(table_sections[0]); i++) {
		if (image_section(image, table_sections[i], &section) &&
		    find_for_table(image, offsets, section.address, module))
			return 0;
	}
	if (scan(image, offsets, module))
		return 0;
	return error_set(err, ENOTSUP, "has no function table that gotrace understands (packed or changed?)");
}
