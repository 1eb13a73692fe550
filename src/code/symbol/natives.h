/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of native code by address, from the log (LOG_SYMBOL). Counterpart of the function table for code
 * other than Go.
 */
#ifndef GOTRACE_CODE_SYMBOL_NATIVES_H
#define GOTRACE_CODE_SYMBOL_NATIVES_H

#include "code/symbol/frame.h"
#include "util/strtab.h"

/* Maximum number of frames of one address: inlined callers, and the function itself. */
#define NATIVE_DEPTH 32

/*
 * Readers intern frames by PC, so each frame of an address needs a PC of its own. The outermost frame has the
 * return address - 1. The others add this bit, and in the six bits below it their distance from the outermost
 * frame.
 */
#define INLINED_PC    (1ull << 62)
#define INLINED_SHIFT 56

struct natives;

/* NULL when out of memory. Strings are added to `strings`, which is not owned. */
struct natives *natives_new(struct strtab *strings);
void natives_free(struct natives *natives);
/*
 * Takes the payload of a LOG_SYMBOL, which replaces an earlier one for the same address. Returns 0, -EBADMSG
 * if it is malformed, or -ENOMEM.
 */
int natives_put(struct natives *natives, const void *payload, size_t size);
/*
 * The frames of a return address, innermost first; valid until the next natives_put. If the address has no
 * name, one frame named by the address. NULL if the log does not contain the address.
 */
const struct frame *natives_frames(const struct natives *natives, uint64_t ret_pc, unsigned *n);
/* Changes whenever the frames of any address change. */
unsigned natives_version(const struct natives *natives);

#endif
