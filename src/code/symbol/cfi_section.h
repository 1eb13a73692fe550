/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The entries of .eh_frame or .debug_frame: CIEs, and the FDEs of functions. */
#ifndef GOTRACE_CODE_SYMBOL_CFI_SECTION_H
#define GOTRACE_CODE_SYMBOL_CFI_SECTION_H

#include "code/symbol/cfi.h"

/*
 * Lists the FDEs of code in [base, end) in section->fdes, which the caller frees. Returns 0, -ENOMEM, -EFBIG
 * or -ETIME.
 */
int cfi_list_fdes(struct cfi_section *section, uint64_t base, uint64_t end);
/* Sorts the FDEs by the addresses of their functions. */
void cfi_sort_fdes(struct cfi_section *section);
/* The CIE at the offset, valid until the next call; NULL if it is invalid. */
struct cfi_cie *cfi_cie_at(struct cfi_section *section, size_t offset);
/* False if the budget is used up. */
bool cfi_may_go_on(const struct cfi_section *section);

/* --- unwind_rule.c: converts call frame information to the rules of bpf/unwind.h --- */

/* Returns UNWIND_NONE if no rule is equivalent. is_signal: the code is the signal return trampoline. */
uint32_t unwind_rule_of(const struct cfi_registers *registers, const struct cfi_state *state, bool is_signal);

#endif
