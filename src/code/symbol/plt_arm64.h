/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The procedure linkage table of arm64 programs, which linkers describe in .eh_frame for amd64 only. Its
 * entries are short and always the same (binutils 2.40 bfd/elfnn-aarch64.c; gold and lld write the same, mold
 * omits `add` in .plt.got):
 *   an entry     [bti c] adrp x16; ldr x17, [x16]; add x16; [autia1716] br x17
 *   the first    [bti c] stp x16, x30, [sp, #-16]!; adrp x16; ldr x17; add x16; br x17
 *   for TLS      [bti c] stp x2, x3, [sp, #-16]!; adrp x2; adrp x3; ldr x2; add x3; br x2
 * They are padded with nop. The ABI lets them use only x16 and x17 (Procedure Call Standard for the Arm
 * 64-bit Architecture, 6.1.1), so the return address stays in x30. Pure functions over untrusted bytes.
 */
#ifndef GOTRACE_CODE_SYMBOL_PLT_ARM64_H
#define GOTRACE_CODE_SYMBOL_PLT_ARM64_H

#include <stddef.h>
#include <stdint.h>

#include "code/symbol/ehframe.h"

/*
 * Adds the rules of a table at link address `address`, which must not be below tables added before. Unknown
 * entries get no rule. Returns 0 or -ENOMEM.
 */
int plt_arm64_add(struct ehframe_spans *spans, const uint8_t *code, size_t size, uint64_t address);

#endif
