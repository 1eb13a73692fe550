/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a file's debug information is kept apart from it: by build id, or by
 * the name in .gnu_debuglink, in the target's root directory first and then in
 * ours. Nothing is fetched from elsewhere.
 */
#ifndef GOTRACE_NATIVE_DEBUG_H
#define GOTRACE_NATIVE_DEBUG_H

#include "native/elf.h"

/* Takes one line about a debug file that cannot be used, without a newline. */
typedef void (*native_tell)(void *ctx, const char *line);

struct native_search {
	int roots[2];     /* directories, the target's first; -1 = none */
	const char *path; /* of the file, as the target sees it */
	native_tell tell;
	void *ctx;
	/* Bytes of debug information that may still be read into memory, for all files that use it. */
	uint64_t *debug_left;
};

/*
 * Opens the debug file that belongs to `file`. One that is of another build is
 * told and passed over. -ENOENT if there is none.
 */
int native_debug_find(const struct native_search *search, const struct native_elf *file,
		      struct native_elf *debug);
/* The same for what dwz has moved out of a debug file (.gnu_debugaltlink). */
int native_debug_find_alt(const struct native_search *search, const struct native_elf *debug,
			  struct native_elf *alt);

#endif
