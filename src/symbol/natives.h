/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What addresses of native code are, as the log tells it (LOG_SYMBOL): the
 * counterpart of the function table for code that is not Go's.
 */
#ifndef GOTRACE_NATIVES_H
#define GOTRACE_NATIVES_H

#include "symbol/symbol.h"

/* Inlined callers that one address may have, and itself. */
#define NATIVE_DEPTH 32

/*
 * Readers intern frames by PC, so every function that is inlined at an
 * address has one of its own: this bit, the number of the frame from the
 * outermost (which has the address itself) in the next six, and the address.
 */
#define INLINED_PC    (1ull << 62)
#define INLINED_SHIFT 56

struct natives;

/* NULL when out of memory. Strings go into `strings`, which is not owned. */
struct natives *natives_new(struct strtab *strings);
void natives_free(struct natives *natives);
/*
 * Takes the payload of a LOG_SYMBOL; what comes again for an address replaces
 * what was there. -EBADMSG if it is no such thing, -ENOMEM.
 */
int natives_put(struct natives *natives, const void *payload, size_t size);
/*
 * The frames of a return address, innermost first; valid until the next
 * natives_put. One frame with the address for a name if nothing is known of
 * it. NULL if the log has not told of this address.
 */
const struct frame *natives_frames(const struct natives *natives, uint64_t ret_pc, unsigned *n);
/* Changes whenever what an address stands for does. */
unsigned natives_version(const struct natives *natives);

#endif
