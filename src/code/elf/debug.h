/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds separate debug files: by build id, or by the name in .gnu_debuglink, first in the target's root
 * directory and then in ours. Nothing is downloaded.
 */
#ifndef GOTRACE_CODE_ELF_DEBUG_H
#define GOTRACE_CODE_ELF_DEBUG_H

#include "code/elf/elf.h"
#include "util/budget.h"

/* Receives a line about a debug file that cannot be used, without a newline. */
typedef void (*native_report)(void *ctx, const char *line);

struct native_search {
	int roots[2];     /* directories, the target's first; -1 = none */
	const char *path; /* of the file, as the target sees it */
	native_report report;
	void *ctx;
	struct budget *budget; /* shared by all files: memory and CPU time */
};

/*
 * Opens the debug file that belongs to `file`. A debug file of another build is reported and skipped. Returns
 * 0, or -ENOENT if there is none.
 */
int native_debug_find(const struct native_search *search, const struct native_elf *file,
		      struct native_elf *debug);
/* The same for the file to which dwz has moved parts of a debug file (.gnu_debugaltlink). */
int native_debug_find_alt(const struct native_search *search, const struct native_elf *debug,
			  struct native_elf *alt);

#endif
