/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Rules of bpf/unwind.h that say what call frame information does. */
#ifndef GOTRACE_SYMBOL_UNWIND_RULE_H
#define GOTRACE_SYMBOL_UNWIND_RULE_H

#include "symbol/cfi.h"

/* UNWIND_NONE if no rule says the same. is_signal: the code is that to which signal handlers return. */
uint32_t unwind_rule_of(const struct cfi_registers *registers, const struct cfi_state *state, bool is_signal);

#endif
