/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks whether a layout fits a process, by the contents of a snapshot taken with it. */
#ifndef GOTRACE_TARGET_PROVE_H
#define GOTRACE_TARGET_PROVE_H

#include "target/target.h"

/*
 * Takes a snapshot with target->layout and checks it: the lists of goroutines, Ms and Ps can be walked and
 * point to each other, ids are unique, states and wait reasons are legal, stacks can be walked, goroutines
 * began at functions. Tolerates a few inconsistencies, because the process changes while it is read. Returns
 * 0; -EBADMSG, with the failed check in err; or an error of the snapshot.
 */
int target_prove(const struct target *target, struct error *err);

#endif
