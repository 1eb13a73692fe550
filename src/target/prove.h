/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks whether a layout fits a process, by the contents of a snapshot taken with it. */
#ifndef GOTRACE_TARGET_PROVE_H
#define GOTRACE_TARGET_PROVE_H

#include "target/private.h"
#include "target/target.h"

/*
 * Takes a snapshot of at most some hundred goroutines with target->layout and checks it: the lists of
 * goroutines, Ms and Ps can be walked and point to each other, ids are unique, states and wait reasons are
 * legal, goroutines began at functions. Tolerates inconsistencies, because the process changes while it is
 * read. proven: the code has proven the layout (prove_code.h), or it comes from the program's own DWARF; then
 * a process that shows nothing, because it has just started, is no reason to fail. Returns 0; -EBADMSG, with
 * the failed check in err; or an error of the snapshot.
 */
int target_prove(const struct target *target, bool proven, struct error *err);

/* --- prove_code.c --- */

/*
 * Checks a layout by the program's own code: the instructions of the runtime's functions contain the offsets
 * of the fields that they use. A version text proves nothing about the structs: a changed toolchain may call
 * itself go1.26.8, too.
 */

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
