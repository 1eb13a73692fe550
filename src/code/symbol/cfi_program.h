/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Runs programs of call frame instructions (DWARF 5, 6.4.2). */
#ifndef GOTRACE_CODE_SYMBOL_CFI_PROGRAM_H
#define GOTRACE_CODE_SYMBOL_CFI_PROGRAM_H

#include "code/symbol/cfi.h"

#define CFI_STATES 16u /* nesting of remember_state; compilers need one level */

/* State while a program of call frame instructions runs. */
struct cfi_run {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	struct cfi_reader program;
	struct cfi_state state;
	struct cfi_state remembered[CFI_STATES];
	unsigned n;
	uint64_t location; /* address of the next row */
};

/* How a run ended. */
enum cfi_run_result { CFI_RUN_SAME_ROW, CFI_RUN_NEXT_ROW, CFI_RUN_END, CFI_RUN_BAD };

/* Runs up to the next row, or to the program's end. */
enum cfi_run_result cfi_run_row(struct cfi_run *run);
/* Runs the initial instructions of a CIE, which fill in cie->initial. False if they cannot be run. */
bool cfi_run_initial(const struct cfi_section *section, struct cfi_cie *cie);

#endif
