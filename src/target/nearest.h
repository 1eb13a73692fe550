/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Releases that the table of layouts does not have, in programs without DWARF:
 * the layout that the user gave is tried, or else those of the nearest releases,
 * and one is used only if what it finds in the process is what a Go runtime
 * must have there.
 */
#ifndef GOTRACE_TARGET_NEAREST_H
#define GOTRACE_TARGET_NEAREST_H

#include "target/private.h"

/*
 * What the file decides: the fields of moduledata by which its function table and its inline trees are found.
 * Sets image->release and image->module. -ENOTSUP if no release fits, or if the layout that was given is
 * another release's.
 */
int nearest_adopt(struct target *target, struct error *err);

/*
 * What the process decides, once the image is relocated: takes the layout that was given, or the first of
 * the nearest ones, that the process proves. -ENOTSUP with what the nearest one failed at; -ESRCH, -EPERM,
 * -ENOMEM.
 */
int nearest_prove(struct target *target, struct error *err);

#endif
