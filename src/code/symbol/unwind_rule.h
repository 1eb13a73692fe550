/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Converts call frame information to the rules of bpf/unwind.h. */
#ifndef GOTRACE_CODE_SYMBOL_UNWIND_RULE_H
#define GOTRACE_CODE_SYMBOL_UNWIND_RULE_H

#include "code/symbol/cfi.h"

/* Returns UNWIND_NONE if no rule is equivalent. is_signal: the code is the signal return trampoline. */
uint32_t unwind_rule_of(const struct cfi_registers *registers, const struct cfi_state *state, bool is_signal);

#endif
