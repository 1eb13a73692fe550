/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The system calls that a process without privileges may make. */
#ifndef GOTRACE_SANDBOX_FILTER_H
#define GOTRACE_SANDBOX_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

/* The values of niceness that a worker's thread may set for itself; the kernel lets it only increase. */
enum { FILTER_NORMAL = 0, FILTER_NICE = 10 };

struct filter_options {
	/*
	 * Receives the descriptor through which the broker answers calls that open or look up a file, or read
	 * another process's memory. NULL: these calls are refused.
	 */
	int *listener;
	bool threads;          /* may start threads */
	const pid_t *children; /* the only processes to which it may send signals; NULL = none */
	size_t nchildren;
	bool draws; /* may also set the modes of its terminal, and stop itself (Ctrl-Z) */
};

/*
 * Installs the filter for good in the calling process, which must have a single thread and no_new_privs. Work
 * on private memory and open descriptors is allowed, and waiting for its own children. Any other call ends
 * the process with SIGSYS.
 */
int filter_install(const struct filter_options *options, struct error *err);

#endif
