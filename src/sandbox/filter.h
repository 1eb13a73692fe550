/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The system calls that a sandbox may make. */
#ifndef GOTRACE_SANDBOX_FILTER_H
#define GOTRACE_SANDBOX_FILTER_H

#include "util/error.h"

/*
 * For the calling process, which has one thread, and for good. Calls that open or look up a file, and the
 * reading of another process's memory, wait for an answer of whoever holds *listener (broker.h; NULL: they
 * are refused); work on memory and on what is open is allowed; anything else ends the process by SIGSYS.
 */
int filter_install(int *listener, struct error *err);

#endif
