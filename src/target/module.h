/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The function table and the record that describes the program's code, with and without sections. Pure. */
#ifndef GOTRACE_TARGET_MODULE_H
#define GOTRACE_TARGET_MODULE_H

#include "target/image.h"
#include "target/layout.h"

struct module {           /* link-time addresses */
	uint64_t address; /* of runtime.firstmoduledata */
	uint64_t pclntab;
	size_t pclntab_size;
	uint64_t text, etext, gofunc;
};

/* -ENOTSUP if it is not found. */
int module_find(const struct image *image, const struct runtime_offsets *offsets, struct module *module,
		struct error *err);

#endif
