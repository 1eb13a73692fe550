/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Layout and reasons from an executable's own DWARF and symbols: for releases
 * that the table does not know, and for the tool that makes the table.
 * Parsing is elfutils'; it runs only for such releases.
 */
#ifndef GOTRACE_TARGET_DEBUGINFO_H
#define GOTRACE_TARGET_DEBUGINFO_H

#include "target/image.h"
#include "target/layout.h"

/*
 * Makes a release, whose minor number is there already, from the file, whose
 * loaded part is image. -ENODATA if the
 * file has no DWARF or lacks a type; reasons may be absent. Free with
 * debuginfo_release_free.
 */
int debuginfo_release(int fd, const struct image *image, struct release *release, struct error *err);
void debuginfo_release_free(struct release *release);

#endif
