/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/limits.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

/* Probes, maps, rings and programs are descriptors: about 100 for a Go program, about 60 for threads. */
enum { MIN_FILES = 256 };

static struct rlimit before;
static bool raised;

int limits_raise_files(struct error *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (limit.rlim_max < MIN_FILES)
		return error_set(
			err, EMFILE,
			"the limit on open files is %u, but tracing needs %d: raise it (ulimit -n %d, or "
			"LimitNOFILE= of a unit)",
			(unsigned)limit.rlim_max, MIN_FILES, MIN_FILES);
	before = limit;
	limit.rlim_cur = limit.rlim_max;
	raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
	return 0;
}

void limits_restore_files(void)
{
	if (raised)
		setrlimit(RLIMIT_NOFILE, &before);
}
