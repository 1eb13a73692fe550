/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The limit on open files (RLIMIT_NOFILE). */
#ifndef GOTRACE_UTIL_LIMITS_H
#define GOTRACE_UTIL_LIMITS_H

#include "util/error.h"

/*
 * Raises this process's limit as far as possible. Returns 0, or -EMFILE if that is less than tracing needs.
 */
int limits_raise_files(struct error *err);
/* Restores the original limit, for a program that gotrace starts. */
void limits_restore_files(void);

#endif
