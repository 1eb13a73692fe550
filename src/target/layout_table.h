/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The layout of one release, with its version and architecture, from a program's DWARF or from a text
 * (layout_text.h).
 */
#ifndef GOTRACE_TARGET_LAYOUT_TABLE_H
#define GOTRACE_TARGET_LAYOUT_TABLE_H

#include "target/buildinfo.h"
#include "target/layout.h"

struct layout_table {
	struct go_version version;
	bool arm64;
	struct release release; /* owns its texts; free with release_free() */
};

/*
 * Reads the layout from an executable's DWARF and symbols. Returns 0, -ENOEXEC if it is not a Go program, or
 * an error of load_file() or debuginfo_release().
 */
int layout_table_read(int fd, struct layout_table *table, struct error *err);

#endif
