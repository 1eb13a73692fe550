/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The code files whose tables are loaded (capture/native_tables.h), and the extents that they occupy in the
 * arrays of rows and pages. Their number is bounded: a new module evicts the least recently used one that is
 * no longer in any list of mappings. An evicted module is read again when it is mapped again.
 */
#ifndef GOTRACE_CAPTURE_NATIVE_MODULES_H
#define GOTRACE_CAPTURE_NATIVE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/names/modules.h"

#define NATIVE_MODULES_MAX 4096u /* as many as a list of mappings has entries: bpf/unwind.h */

/* Part of an array. */
struct native_extent {
	uint32_t first, n;
};

struct native_module {
	struct module_key key;
	bool readable;
	bool placed;             /* its rows are in the arrays; else they are discarded */
	bool full;               /* it did not fit; it is read again when there may be space */
	bool noted;              /* a message about it was recorded */
	struct module_code code; /* without rows */
	size_t damaged;          /* number of invalid frame descriptions */
	struct native_extent rows, pages;
	unsigned users;   /* entries of lists that refer to it */
	uint64_t used_at; /* value of `clock` when it was last in a list */
	uint64_t full_at; /* value of `releases` when it did not fit */
};

struct native_modules {
	struct native_module **list;
	size_t n;
	uint64_t clock;
	uint64_t releases; /* number of modules released by their last list; each may have made space */
};

void native_modules_free(struct native_modules *modules);
struct native_module *native_modules_find(const struct native_modules *modules, const struct module_key *key);
/* Returns NULL if NATIVE_MODULES_MAX are in use, or out of memory. */
struct native_module *native_modules_add(struct native_modules *modules, const struct module_key *key);
void native_modules_drop(struct native_modules *modules, struct native_module *module);
/* Drops the least recently used module that is not in use, except `but`. Returns false if all are in use. */
bool native_modules_evict(struct native_modules *modules, const struct native_module *but);
void native_modules_use(struct native_modules *modules, struct native_module *module);
void native_modules_release(struct native_modules *modules, struct native_module *module);

/* Finds the first free extent of n rows or pages below a limit. Returns its start, or UINT32_MAX if there is
 * none. */
enum native_extents { NATIVE_ROWS, NATIVE_PAGES };
uint32_t native_modules_gap(const struct native_modules *modules, enum native_extents which, uint32_t n,
			    uint32_t limit);

#endif
