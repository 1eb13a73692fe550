/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * PC-value tables: lists of pairs of varints, a zig-zag value delta and a PC delta in units of the header's
 * minLC. A list starts with value -1 at the function's entry and ends with a value delta of 0 (Go 1.26
 * runtime/symtab.go, step and pcvalue).
 */
#ifndef GOTRACE_CODE_SYMBOL_PCVALUE_H
#define GOTRACE_CODE_SYMBOL_PCVALUE_H

#include "code/symbol/pclntab.h"

/* The value at pc; -1 if there is none (as the runtime's pcvalue). */
int32_t pcvalue_at(const struct functab *tab, const struct function *func, uint32_t table, uint64_t pc);
/* The largest value in the table, at least -1. Decrements *budget at each step and stops at 0. */
int32_t pcvalue_max(const struct functab *tab, const struct function *func, uint32_t table, uint64_t *budget);

#endif
