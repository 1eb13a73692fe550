/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/module.h"

#include <errno.h>
#include <string.h>

/*
 * Beginning of the table, by release: magic, two zeros, minimum instruction size (4 on arm64) and pointer
 * size. From 1.16 on, a header (pcHeader, runtime/symtab.go) follows, with the offset of the function names.
 */
static const struct table_format {
	unsigned since; /* minor release */
	uint8_t magic[8];
	uint32_t size;
	uint32_t names; /* header offset of the names' offset; 0 = none */
} formats[] = {
	{20, {0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}, 0x48, 0x20},
	{18, {0xf0, 0xff, 0xff, 0xff, 0, 0, 1, 8}, 0x48, 0x20},
	{16, {0xfa, 0xff, 0xff, 0xff, 0, 0, 1, 8}, 0x40, 0x18},
	{0, {0xfb, 0xff, 0xff, 0xff, 0, 0, 1, 8}, 0x10, 0},
};

struct module_search {
	const struct image *image;
	const struct runtime_offsets *offsets;
	const struct table_format *format;
};

enum { MIN_INSTRUCTION = 6 }; /* index in table_format.magic */

static bool begins_table(const struct module_search *search, const uint8_t *bytes)
{
	uint8_t magic[sizeof(search->format->magic)];

	memcpy(magic, search->format->magic, sizeof(magic));
	if (search->image->arm64)
		magic[MIN_INSTRUCTION] = 4;
	return memcmp(bytes, magic, sizeof(magic)) == 0;
}

static const struct table_format *find_format(unsigned minor)
{
	const struct table_format *format = formats;

	while (format->since > minor)
		format++;
	return format;
}

/* Up to 1.25 the table of a PIE is in data that the dynamic linker relocates. */
static const char *const table_sections[] = {".gopclntab", ".data.rel.ro.gopclntab"};

/* Reads moduledata at this address. Returns false if it cannot be there. */
static bool go_module_read(const struct module_search *search, uint64_t address, struct module *module)
{
	const struct runtime_offsets *offsets = search->offsets;
	const struct image *image = search->image;
	uint64_t table = 0, len = 0;
	size_t available;

	module->address = address;
	module->gofunc = 0;
	if (!image_pointer(image, address + offsets->module_text, &module->text) ||
	    !image_pointer(image, address + offsets->module_etext, &module->etext) ||
	    !image_pointer(image, address + offsets->module_pclntable, &table) ||
	    !image_pointer(image, address + offsets->module_pclntable + 8, &len))
		return false;
	if (offsets->module_gofunc != LAYOUT_ABSENT &&
	    (!image_pointer(image, address + offsets->module_gofunc, &module->gofunc) ||
	     !image_bytes(image, module->gofunc, 1)))
		return false;
	image_rest(image, module->pclntab, &available);
	if (table < module->pclntab || table - module->pclntab > available ||
	    len > available - (table - module->pclntab))
		return false;
	module->pclntab_size = table - module->pclntab + len;
	return module->pclntab_size >= search->format->size && module->text < module->etext &&
	       image_bytes(image, module->text, module->etext - module->text);
}

/*
 * Whether moduledata can begin here: with the addresses of the table and of its names, or up to 1.15 with a
 * slice that is the table (symtab.go of each release).
 */
static bool is_beginning(const struct module_search *search, uint64_t address, uint64_t names)
{
	uint64_t second, third;

	if (search->format->names)
		return image_pointer(search->image, address + 8, &second) && second == names;
	return image_pointer(search->image, address + 8, &second) &&
	       image_pointer(search->image, address + 16, &third) && second == third;
}

static bool go_module_find(const struct module_search *search, uint64_t names, struct module *module)
{
	const struct image *image = search->image;

	for (unsigned i = 0; i < image->n; i++) {
		const struct segment *segment = &image->segments[i];
		const uint8_t *bytes = image->data + segment->offset;
		uint64_t word, skip = -segment->address % 8;

		if (!segment->writable)
			continue;
		for (uint64_t at = skip; at < segment->file_size && segment->file_size - at >= 16; at += 8) {
			memcpy(&word, bytes + at, sizeof(word));
			if (word == module->pclntab && is_beginning(search, segment->address + at, names) &&
			    go_module_read(search, segment->address + at, module))
				return true;
		}
	}
	return false;
}

/*
 * Rows of the table of Go 1.4 (src/runtime/symtab.go): pairs of a PC and the function's offset, then the end
 * PC.
 */
enum { ROWS = 0x10, ROW = 16 };

/*
 * Go 1.4 has no moduledata: the table itself contains the first and the last address of the code. Its size is
 * that of the section, or of the rest of the segment.
 */
static bool read_bare_table(const struct module_search *search, struct module *module)
{
	const struct image *image = search->image;
	uint64_t n = 0, fit, begin, offset;
	struct image_section section;
	size_t available;

	image_rest(image, module->pclntab, &available);
	for (size_t i = 0; i < sizeof(table_sections) / sizeof(table_sections[0]); i++) {
		if (image_section(image, table_sections[i], &section) && section.address == module->pclntab)
			available = section.size;
	}
	fit = available > ROWS + ROW ? (available - ROWS - ROW) / ROW : 0;
	if (!image_pointer(image, module->pclntab + 8, &n) || !n || n > fit)
		return false;
	begin = module->pclntab + ROWS;
	module->pclntab_size = available;
	return image_pointer(image, begin, &module->text) && image_pointer(image, begin + 8, &offset) &&
	       offset < available && image_pointer(image, begin + n * ROW, &module->etext) &&
	       module->text < module->etext && image_bytes(image, module->text, module->etext - module->text);
}

/* Finds the module whose table is at the address. */
static bool find_for_table(const struct module_search *search, uint64_t address, struct module *module)
{
	const struct table_format *format = search->format;
	const uint8_t *header = image_bytes(search->image, address, format->size);
	uint64_t names = 0;

	if (!header || !begins_table(search, header))
		return false;
	if (format->names)
		memcpy(&names, header + format->names, sizeof(names));
	*module = (struct module){.pclntab = address};
	if (search->offsets->module_text == LAYOUT_ABSENT)
		return read_bare_table(search, module);
	return go_module_find(search, names + address, module);
}

/* Each candidate costs a search of the data. Real images have one or two. */
#define MAX_CANDIDATES 64

static bool scan(const struct module_search *search, struct module *module)
{
	const struct table_format *format = search->format;
	const struct image *image = search->image;
	int candidates = 0;

	for (unsigned i = 0; i < image->n; i++) {
		const struct segment *segment = &image->segments[i];
		const uint8_t *bytes = image->data + segment->offset;

		for (uint64_t at = -segment->address % 8;
		     at < segment->file_size && segment->file_size - at >= format->size; at += 8) {
			if (!begins_table(search, bytes + at))
				continue;
			if (find_for_table(search, segment->address + at, module))
				return true;
			if (++candidates == MAX_CANDIDATES)
				return false;
		}
	}
	return false;
}

int module_find(const struct image *image, const struct release *release, struct module *module,
		struct error *err)
{
	struct module_search search = {
		.image = image,
		.offsets = &release->layout.runtime,
		.format = find_format(release->minor),
	};
	struct image_section section;

	for (size_t i = 0; i < sizeof(table_sections) / sizeof(table_sections[0]); i++) {
		if (image_section(image, table_sections[i], &section) &&
		    find_for_table(&search, section.address, module))
			return 0;
	}
	if (scan(&search, module))
		return 0;
	return error_set(
		err, ENOTSUP,
		"has no function table that gotrace understands (is it packed, modified, or not of Go 1.%u?)",
		release->minor);
}
