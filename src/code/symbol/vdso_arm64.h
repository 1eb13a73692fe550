/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * arm64's vDSO has no .eh_frame (since Linux 5.8: 87676cfca141). It has only a few simple functions, in which
 * the compiler makes a frame with `stp x29, x30, [sp, #-N]!` and removes it with `ldp x29, x30, [sp], #N`.
 */
#ifndef GOTRACE_CODE_SYMBOL_VDSO_ARM64_H
#define GOTRACE_CODE_SYMBOL_VDSO_ARM64_H

#include <stddef.h>
#include <stdint.h>

#include "code/symbol/ehframe.h"

/*
 * Makes rows for `size` bytes of code at link address `address`, relative to base. Code before it is unknown.
 * Free them with ehframe_free(). Returns 0 or -ENOMEM.
 */
int vdso_arm64_rows(const uint8_t *code, size_t size, uint64_t address, uint64_t base,
		    struct ehframe_rows *rows);

#endif
