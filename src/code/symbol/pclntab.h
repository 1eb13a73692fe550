/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Internals of a function table: its rows, and the functions' descriptions. All offsets come from the target
 * and are checked here.
 */
#ifndef GOTRACE_CODE_SYMBOL_PCLNTAB_H
#define GOTRACE_CODE_SYMBOL_PCLNTAB_H

#include "code/symbol/byte_span.h"
#include "code/symbol/functab_source.h"
#include "code/symbol/pclntab_format.h"

struct functab {
	struct functab_source source;
	const struct pclntab_format *format;
	const struct release_rules *rules;
	uint32_t quantum; /* alignment of instructions in bytes: 1, on arm64 4 */
	size_t count;
	struct byte_span names, cutab, files, pctab, funcs; /* each extends to the end of the table */
	struct functab *next;                               /* of the next module; owned */
};

/* A function. The fields of its description have been checked to lie in the table. */
struct function {
	const struct functab *tab; /* that has it */
	uint64_t entry, end;
	size_t offset; /* of the description, in functab.funcs */
	uint32_t name, pcsp, pcfile, pcln, npcdata, cu;
	uint8_t id, nfuncdata;
};

/*
 * Reads one of the two words of a row: the function's entry, or the offset of its description. False if it is
 * not in the table.
 */
bool functab_row_word(const struct functab *tab, size_t index, unsigned word, uint64_t *value);
/*
 * Entry address of a function; for index = count, the end of the last function. The row was checked with the
 * table.
 */
uint64_t functab_entry_at(const struct functab *tab, size_t index);
/* Returns 0, -ERANGE for a bad index, or -EBADMSG. */
int function_read(const struct functab *tab, size_t index, struct function *func);
/* Offset of a PC-value table in pctab; 0 if the function does not have it. */
uint32_t function_pcdata(const struct functab *tab, const struct function *func, uint32_t table);
/* Address of a function's funcdata in the process; false if the function does not have it. */
bool function_funcdata(const struct functab *tab, const struct function *func, uint8_t table,
		       uint64_t *address);
/* Offset in functab.funcs of the word that function_funcdata reads; false if it is not in the table. */
bool function_funcdata_at(const struct functab *tab, const struct function *func, uint8_t table, size_t *at);
/* The bytes of functab_source.gofunc from the address on; false if the address is not in them. */
bool functab_data(const struct functab *tab, uint64_t address, struct byte_span *span);

#endif
