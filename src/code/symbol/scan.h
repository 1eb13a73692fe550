/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unwinds stacks that were recorded as words of the stack rather than return addresses. */
#ifndef GOTRACE_CODE_SYMBOL_SCAN_H
#define GOTRACE_CODE_SYMBOL_SCAN_H

#include "code/symbol/functab.h"

#define SCANNED_SHIFT 48u
#define SCANNED_FRAME (0xffffull << SCANNED_SHIFT)

/*
 * Finds the return addresses, leaf first, of a stack recorded as these n words (RAW_STACK_SCAN in
 * bpf/record.h). Returns their number, at most max. The walk ends at the first return address that is not
 * among the words.
 */
size_t scan_frames(const struct functab *tab, const uint64_t *words, size_t n, uint64_t *pcs, size_t max);

#endif
