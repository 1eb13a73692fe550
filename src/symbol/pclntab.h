/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The inside of the symbol room: reading a function's description and its
 * PC-value tables. All offsets come from the target and are checked here.
 */
#ifndef GOTRACE_PCLNTAB_H
#define GOTRACE_PCLNTAB_H

#include "symbol/symbol.h"

struct span {
	const uint8_t *data;
	size_t size;
};

/*
 * Where things are; differs by the magic number of the table. Offsets are in
 * bytes, in pcHeader, _func (Go 1.26 runtime/runtime2.go) and inlinedCall
 * (runtime/symtabinl.go).
 */
struct pclntab_format {
	uint32_t magic;
	uint8_t header_size;
	uint8_t nfunc, names, cutab, files, pctab, funcs; /* in pcHeader */
	uint8_t func_size;
	uint8_t func_name, func_pcsp, func_pcfile, func_pcln, func_npcdata, func_cu, func_id, func_nfuncdata;
	uint8_t inline_size;
	uint8_t inline_id, inline_name, inline_parent;
};

/* The numbers of internal/abi FuncID that matter for stacks; they move between releases. */
struct func_ids {
	uint8_t gopanic, panicwrap, sigpanic, wrapper;
};

struct functab {
	struct functab_source source;
	const struct pclntab_format *format;
	const struct func_ids *ids;
	size_t count;
	struct span names, cutab, files, pctab, funcs; /* each to the end of the table */
};

/* One function, its description's fields already in range of the table. */
struct function {
	uint64_t entry, end;
	size_t offset; /* of the description, in functab.funcs */
	uint32_t name, pcsp, pcfile, pcln, npcdata, cu;
	uint8_t id, nfuncdata;
};

/* internal/abi/symtab.go, the same from Go 1.20 to 1.26. */
enum { PCDATA_INL_TREE_INDEX = 2 };
enum { FUNCDATA_INL_TREE = 3, FUNCDATA_WRAP_INFO = 7 };

/* Little-endian loads; false if they do not lie in the span. */
bool span_u32(const struct span *span, size_t offset, uint32_t *value);
/* The NUL-terminated string at offset, or NULL if it does not end in the span (or within a ceiling). */
const char *span_string(const struct span *span, size_t offset);

/* Returns 0, -ERANGE for a bad index, or -EBADMSG. */
int function_read(const struct functab *tab, size_t index, struct function *func);
/* The offset of a PC-value table in pctab; 0 if the function has none. */
uint32_t function_pcdata(const struct functab *tab, const struct function *func, uint32_t table);
/* The function's data relative to gofunc; false if it has none. */
bool function_funcdata(const struct functab *tab, const struct function *func, uint8_t table,
		       uint32_t *offset);

/* The value of a PC-value table at pc; -1 if it has none (as the runtime's pcvalue). */
int32_t pcvalue_at(const struct functab *tab, const struct function *func, uint32_t table, uint64_t pc);
/* The greatest value in the table (at least -1). Each step lowers *budget; stops at 0. */
int32_t pcvalue_max(const struct functab *tab, const struct function *func, uint32_t table, uint64_t *budget);

/* One entry of a function's inline tree. */
struct inlined_call {
	uint32_t name;
	uint32_t parent; /* offset from the function's entry of an instruction at the call site */
	uint8_t id;
};

/* Entry `index` of the function's tree; false if it is not there. */
bool function_inlined(const struct functab *tab, const struct function *func, int32_t index,
		      struct inlined_call *call);
/* File and line of a PC; NULL ("?" in the runtime) and 0 where there is none. */
const char *function_file_line(const struct functab *tab, const struct function *func, uint64_t pc,
			       uint32_t *line);

#endif
