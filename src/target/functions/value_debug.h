/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Debug information of a file whose functions' arguments are read, opened when first needed. */
#ifndef GOTRACE_TARGET_FUNCTIONS_VALUE_DEBUG_H
#define GOTRACE_TARGET_FUNCTIONS_VALUE_DEBUG_H

#include "code/elf/debug.h"
#include "code/elf/dwarf.h"

struct value_debug {
	struct native_elf alt; /* the parts that dwz has moved out of the file */
	struct budget budget;
	struct native_cost cost;
	struct native_dwarf *dwarf;
	bool opened;
};

/*
 * Opens the debug information in the file, or in its separate debug file (may be closed, or NULL). Both must
 * stay open. If search is NULL, parts that dwz has moved elsewhere are not looked for. Returns NULL if there
 * is no debug information, or it is damaged or too large.
 */
struct native_dwarf *value_debug_open(struct value_debug *debug, const struct native_elf *file,
				      const struct native_elf *separate, const struct native_search *search);
/* Also accepts a zeroed struct that was never opened. */
void value_debug_close(struct value_debug *debug);

#endif
