/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads layout and reasons from an executable's own DWARF and symbols, with elfutils. Used for releases that
 * the table does not contain, and by the tool that generates the table.
 */
#ifndef GOTRACE_TARGET_DEBUGINFO_H
#define GOTRACE_TARGET_DEBUGINFO_H

#include "target/image.h"
#include "target/layout.h"

/*
 * Fills in *release, whose minor number must be set, from the file. image is the loaded part of the file.
 * Returns 0, -ENODATA if the file has no DWARF or a type is missing, or another negative errno. Reasons may
 * be absent. Free with release_free().
 */
int debuginfo_release(int fd, const struct image *image, struct release *release, struct error *err);

#endif
