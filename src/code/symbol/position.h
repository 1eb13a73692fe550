/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Source position of an address: inlined calls, file, line. */
#ifndef GOTRACE_CODE_SYMBOL_POSITION_H
#define GOTRACE_CODE_SYMBOL_POSITION_H

#include "code/symbol/pclntab.h"

/* An entry of a function's inline tree. "By index" refers to trees with release_rules.tree_by_index. */
struct inlined_call {
	uint32_t name;
	/*
	 * Offset from the function's entry of an instruction at the call site; by index: index of the
	 * caller's entry.
	 */
	uint32_t parent;
	uint32_t file, line; /* by index: of the call site */
	uint8_t id;
};

/* Entry `index` of the function's tree; false if it does not exist. */
bool function_inlined(const struct functab *tab, const struct function *func, int32_t index,
		      struct inlined_call *call);
/* Index in the function's tree of the inlined call at pc; -1 = the function itself. */
int32_t function_inline_index(const struct functab *tab, const struct function *func, uint64_t pc);
/* File name by its number in the function's tables; NULL if there is none. */
const char *function_file(const struct functab *tab, const struct function *func, uint32_t number);
/* File and line of a PC; NULL (the runtime prints "?") and 0 if unknown. */
const char *function_file_line(const struct functab *tab, const struct function *func, uint64_t pc,
			       uint32_t *line);

#endif
