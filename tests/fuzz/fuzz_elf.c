/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary bytes as an executable: headers, sections, relocations, version, function table, type
 * descriptors.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/symbol.h"
#include "target/buildinfo.h"
#include "target/layout.h"
#include "target/module.h"
#include "target/type_descriptors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

/* A range that the module returns must be readable to its last byte. */
static void touch(const uint8_t *bytes, size_t size)
{
	if (bytes && size)
		sink = bytes[0] ^ bytes[size - 1];
}

static void build_functab(const struct image *image, const struct module *module, unsigned minor)
{
	struct functab_source source = {
		.pclntab = image_bytes(image, module->pclntab, module->pclntab_size),
		.pclntab_size = module->pclntab_size,
		.gofunc_address = module->gofunc,
		.text = module->text,
		.etext = module->etext,
		.go_minor = minor,
	};

	if (!source.pclntab || !image_bytes(image, module->text, module->etext - module->text))
		abort();
	source.gofunc = image_rest(image, module->gofunc, &source.gofunc_size);
	touch(source.pclntab, source.pclntab_size);
	touch(source.gofunc, source.gofunc_size);
	touch(image_bytes(image, module->text, module->etext - module->text), module->etext - module->text);
	functab_free(functab_new(&source, NULL));
}

static void find_types(const struct image *image, const struct module *module, unsigned minor)
{
	struct type_field fields[] = {
		{.type = "net/http.Request", .path = "URL.Path"},
		{.type = "database/sql.Rows", .path = "dc"},
	};
	struct type_places places;

	if (!type_places_find(image, module->address, release_find(minor), minor, &places))
		return;
	if (type_fields_find(image, &places, fields, 2) == 0 &&
	    (fields[0].n > TYPE_PATH_STEPS || fields[1].n > TYPE_PATH_STEPS))
		abort();
}

static void look_at(const struct image *image)
{
	struct go_version version;
	struct image_section section;
	struct module module;
	uint64_t offset, value;

	if (buildinfo_version(image, &version, NULL) == 0 && version.text[sizeof(version.text) - 1])
		abort();
	if (image_section(image, ".gopclntab", &section))
		touch(image_bytes(image, section.address, section.size), section.size);
	for (unsigned i = 0; i < image->n; i++) {
		uint64_t address = image->segments[i].address;

		image_pointer(image, address, &value);
		image_is_variable(image, address, 8);
		if (image_code_offset(image, address, &offset) && offset >= image->size)
			abort();
	}
	for (unsigned minor = release_first(); minor <= release_last(); minor++) {
		if (module_find(image, release_find(minor), &module, NULL))
			continue;
		build_functab(image, &module, minor);
		find_types(image, &module, minor);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct image image;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (image_parse(&image, copy, size, NULL) == 0) {
		image_relocate(&image, copy, false);
		image_relocate(&image, copy, true);
		look_at(&image);
	}
	free(copy);
	return 0;
}
