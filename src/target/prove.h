/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whether a layout is that of a process, by what a snapshot with it holds. */
#ifndef GOTRACE_TARGET_PROVE_H
#define GOTRACE_TARGET_PROVE_H

#include "target/target.h"

/*
 * Takes a snapshot with target->layout and checks it: the lists of goroutines, Ms and Ps can be walked and
 * point to each other, ids are unique, states and wait reasons are legal, stacks can be walked, goroutines
 * began at functions. -EBADMSG with what is not so; other errors as of a snapshot. A process moves on while
 * it is read: one in many may be at odds.
 */
int target_prove(const struct target *target, struct error *err);

#endif
