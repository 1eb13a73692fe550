/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions, lines and inlined callers from a file's DWARF. libdw does the parsing. This module bounds what
 * it requests, because libdw's own walks recurse and follow what they read, and libdw ends the process if
 * memory is short.
 */
#ifndef GOTRACE_CODE_ELF_DWARF_H
#define GOTRACE_CODE_ELF_DWARF_H

#include <elfutils/libdw.h>

#include "code/elf/cost.h"
#include "code/elf/elf.h"
#include "code/elf/text.h"

struct native_dwarf;

/*
 * Opens the debug information in `file`, which must stay open, together with the parts that dwz has moved to
 * `alt` (may be NULL). Memory beyond the sections themselves is charged to cost, which must outlive the
 * result. Parts that are too expensive are left out. Returns NULL if there is no valid debug information or
 * no memory.
 */
struct native_dwarf *native_dwarf_new(const struct native_elf *file, const struct native_elf *alt,
				      struct native_cost *cost);
void native_dwarf_free(struct native_dwarf *dwarf);
/*
 * Adds the frames of the instruction at a link-time address, innermost first. `symbol` is the symbol table's
 * entry for the address, NULL if it has none. Returns false, and adds nothing, if the debug information does
 * not cover the address.
 */
bool native_dwarf_frames(struct native_dwarf *dwarf, uint64_t address, const struct native_symbol *symbol,
			 struct symbol_draft *draft);

/*
 * Calls `visit` with the entry of the function that contains a link-time address. Returns the result of
 * `visit`, or -ENODATA if the debug information has no such function or memory runs out.
 */
int native_dwarf_with_function(struct native_dwarf *dwarf, uint64_t address,
			       int (*visit)(void *ctx, Dwarf_Die *function), void *ctx);

#endif
