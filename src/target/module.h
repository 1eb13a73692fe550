/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds moduledata and the function table, with and without sections. Pure. */
#ifndef GOTRACE_TARGET_MODULE_H
#define GOTRACE_TARGET_MODULE_H

#include "target/image.h"
#include "target/layout.h"

struct module {           /* link-time addresses */
	uint64_t address; /* of runtime.firstmoduledata; 0 in Go 1.4, which does not have it */
	uint64_t pclntab;
	size_t pclntab_size;
	uint64_t text, etext;
	uint64_t gofunc; /* 0 before 1.18 */
};

/* The image must be relocated. Returns 0, or -ENOTSUP if the image has no module in the release's format. */
int module_find(const struct image *image, const struct release *release, struct module *module,
		struct error *err);

#endif
