/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions, lines and inlined callers by a file's DWARF. Parsing is libdw's;
 * what it is asked for is bounded here, for its own walks recurse and follow
 * what they read.
 */
#ifndef GOTRACE_NATIVE_DWARF_H
#define GOTRACE_NATIVE_DWARF_H

#include <elfutils/libdw.h>

#include "native/elf.h"
#include "native/text.h"

struct native_dwarf;

/*
 * The debug information in `file`, which must stay open, with what dwz has put
 * apart in `alt` (may be NULL). NULL if there is none that is good, or memory.
 */
struct native_dwarf *native_dwarf_new(const struct native_elf *file, const struct native_elf *alt);
void native_dwarf_free(struct native_dwarf *dwarf);
/*
 * Adds the frames of the instruction at a link-time address, innermost first.
 * `symbol` is what the symbol table has there, NULL if that is nothing.
 * False, and nothing added, if the debug information does not know the address.
 */
bool native_dwarf_frames(struct native_dwarf *dwarf, uint64_t address, const struct native_symbol *symbol,
			 struct symbol_draft *draft);

#endif
