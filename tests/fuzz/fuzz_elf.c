/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Any bytes as an executable: headers, sections, relocations, version, function table. */
#include <stdint.h>
#include <stdlib.h>

#include "symbol/symbol.h"
#include "target/buildinfo.h"
#include "target/layout.h"
#include "target/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

/* What the room hands out must be readable to its last byte. */
static void touch(const uint8_t *bytes, size_t size)
{
	if (bytes && size)
		sink = bytes[0] ^ bytes[size - 1];
}

static void build_functab(const struct image *image, const struct module *module)
{
	struct functab_source source = {
		.pclntab = image_bytes(image, module->pclntab, module->pclntab_size),
		.pclntab_size = module->pclntab_size,
		.text = module->text,
		.etext = module->etext,
		.go_minor = 26,
	};

	source.gofunc = image_rest(image, module->gofunc, &source.gofunc_size);
	touch(source.pclntab, source.pclntab_size);
	touch(source.gofunc, source.gofunc_size);
	touch(image_bytes(image, module->text, module->etext - module->text), module->etext - module->text);
	functab_free(functab_new(&source, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct go_version version;
	struct section section;
	struct module module;
	struct image image;
	uint64_t offset, value;

	if (image_parse(&image, data, size, NULL))
		return 0;
	if (buildinfo_version(&image, &version, NULL) == 0 && version.text[sizeof(version.text) - 1])
		abort();
	if (image_section(&image, ".gopclntab", &section))
		touch(image_bytes(&image, section.address, section.size), section.size);
	for (unsigned i = 0; i < image.n; i++) {
		uint64_t address = image.segments[i].address;

		image_pointer(&image, address, &value);
		image_is_variable(&image, address, 8);
		if (image_code_offset(&image, address, &offset) && offset >= size)
			abort();
	}
	for (unsigned minor = release_first(); minor <= release_last(); minor++) {
		if (module_find(&image, release_find(minor), &module, NULL) == 0)
			build_functab(&image, &module);
	}
	return 0;
}
