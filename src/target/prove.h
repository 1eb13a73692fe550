/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks whether a layout fits a process, by the contents of a snapshot taken with it. */
#ifndef GOTRACE_TARGET_PROVE_H
#define GOTRACE_TARGET_PROVE_H

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

#endif
