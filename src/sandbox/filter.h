/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The system calls that a worker may make. */
#ifndef GOTRACE_SANDBOX_FILTER_H
#define GOTRACE_SANDBOX_FILTER_H

#include "util/error.h"

enum { FILTER_NICE = 10 }; /* the only niceness that a worker's thread may set for itself */

/*
 * Installs the filter for good in the calling process, which must have a single thread. Calls that open or
 * look up a file, or read another process's memory, wait for an answer of the broker through *listener (NULL:
 * they are refused). Work on memory and open descriptors is allowed. Any other call ends the process with
 * SIGSYS.
 */
int filter_install(int *listener, struct error *err);

#endif
