/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Go's function table (pclntab): look-ups by name and by address. Pure functions over untrusted bytes: every
 * offset is checked, every loop is bounded.
 */
#ifndef GOTRACE_CODE_SYMBOL_FUNCTAB_H
#define GOTRACE_CODE_SYMBOL_FUNCTAB_H

#include <stdbool.h>

#include "code/symbol/functab_source.h"
#include "util/error.h"

struct functab; /* a parsed and checked function table */

struct functab *functab_new(const struct functab_source *source, struct error *err);
void functab_free(struct functab *tab); /* and the tables that were added to it */
/*
 * Adds the table of another module of the same program, of the same release: a plugin's. `tab` owns it from
 * then on. symbol.h and functab_start_pc() use the table that contains the address; all other functions work
 * on one table alone.
 */
void functab_add(struct functab *tab, struct functab *other);
/* Returns the one of `tab` and the tables added to it whose code contains pc, or `tab` if there is none. */
const struct functab *functab_with(const struct functab *tab, uint64_t pc);
size_t functab_count(const struct functab *tab);
/* The process's Go code: [from, to). */
void functab_range(const struct functab *tab, uint64_t *from, uint64_t *to);
/*
 * Gets a function by index: entry address, end address, and name (owned by the table). Returns 0, -ERANGE or
 * -EBADMSG.
 */
int functab_entry(const struct functab *tab, size_t index, uint64_t *entry, uint64_t *end, const char **name);
/*
 * Looks up an exact name, e.g. "runtime.casgstatus". Returns 0 or -ENOENT. Linear search: use it for a few
 * names only.
 */
int functab_find(const struct functab *tab, const char *name, uint64_t *entry, uint64_t *end);
/* Looks up the function that contains pc. Returns 0 or -ENOENT. */
int functab_lookup(const struct functab *tab, uint64_t pc, size_t *index);
/*
 * The address range [from, to) of all functions' inline trees, so that target/ can log them. From 1.18 on,
 * from = gofunc_address. Does not need gofunc. False if there are none.
 */
bool functab_gofunc_range(const struct functab *tab, uint64_t *from, uint64_t *to);
/*
 * Relocates the addresses in a copy of pclntab to those of the process. A table made from the copy needs no
 * bias.
 */
void functab_relocate(const struct functab *tab, uint8_t *copy);
/*
 * Gets the distance in bytes from the stack pointer to the return address before the instruction at pc runs.
 * Returns 0, -ENOENT outside of Go code, -EBADMSG, or -ENODATA if the table has no value.
 */
int functab_sp_delta(const struct functab *tab, uint64_t pc, uint32_t *delta);

/*
 * The function that a goroutine starting at pc runs: for a wrapper made by the compiler (`go x.Method()`),
 * the entry of the wrapped function; else pc (startPCForTrace, Go 1.26 runtime/tracestack.go). Needs gofunc.
 */
uint64_t functab_start_pc(const struct functab *tab, uint64_t pc);

#endif
