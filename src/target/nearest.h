/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Layouts for programs without DWARF whose release is not in the table. Tries the layout that the user gave,
 * or else those of the nearest releases. Uses one only if what it finds in the process is valid for a Go
 * runtime.
 */
#ifndef GOTRACE_TARGET_NEAREST_H
#define GOTRACE_TARGET_NEAREST_H

#include "target/private.h"

/*
 * First step, decided by the file: chooses the moduledata fields, which locate the function table and its
 * inline trees. Sets image->release and image->module. Returns 0, or -ENOTSUP if no release fits or the given
 * layout is for another release or architecture.
 */
int nearest_adopt(struct target *target, struct error *err);

/*
 * Whether any candidate is proven by the code, for a program that is not running yet. target_find_copies()
 * must have been called. Returns 0 or -ENOTSUP.
 */
int nearest_check_code(const struct target *target, struct error *err);

/*
 * Second step, decided by the process, once the image is relocated: takes the given layout, or the first of
 * the nearest ones, that target_prove() confirms. Returns 0; -ENOTSUP, with the failure of the nearest one in
 * err; or -ESRCH, -EPERM or -ENOMEM.
 */
int nearest_prove(struct target *target, struct error *err);

#endif
