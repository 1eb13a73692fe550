/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks a layout by the program's own code: the instructions of the runtime's functions contain the offsets
 * of the fields that they use. A version text proves nothing about the structs: a changed toolchain may call
 * itself go1.26.8, too.
 */
#ifndef GOTRACE_TARGET_PROVE_CODE_H
#define GOTRACE_TARGET_PROVE_CODE_H

#include "target/private.h"

/*
 * Checks the fields of g, m and p, and the texts of the wait reasons, of target->go_minor's functions that
 * the program has, in it or where it is inlined. target_find_copies() must have been called. Returns 0, or
 * -EBADMSG, and in err the first field that is elsewhere: "g.goid is not at 0x98 (runtime.newproc1)".
 */
int prove_code(const struct target *target, const struct release *release, struct error *err);
/* The same for the fields of mheap and mspan, which only a trace of the program's memory needs (from 1.23
 * on). */
int prove_code_of_heap(const struct target *target, const struct release *release, struct error *err);

#endif
