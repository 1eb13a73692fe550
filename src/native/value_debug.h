/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The debug information of a file whose functions' arguments are read, opened when it is first needed. */
#ifndef GOTRACE_NATIVE_VALUE_DEBUG_H
#define GOTRACE_NATIVE_VALUE_DEBUG_H

#include "native/debug.h"
#include "native/dwarf.h"

struct value_debug {
	struct native_elf alt; /* what dwz has moved out of the file */
	struct budget budget;
	struct native_cost cost;
	struct native_dwarf *dwarf;
	bool opened;
};

/*
 * The debug information in the file, or in its separate debug file (may be closed). Both must stay open.
 * search may be NULL: then a part that dwz has moved elsewhere is not looked for. NULL if there is none, or
 * it is damaged or too large.
 */
struct native_dwarf *value_debug_open(struct value_debug *debug, const struct native_elf *file,
				      const struct native_elf *separate, const struct native_search *search);
/* For one that has not been opened, too, if it is zeroed. */
void value_debug_close(struct value_debug *debug);

#endif
