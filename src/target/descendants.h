/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lists the descendants of a process. */
#ifndef GOTRACE_TARGET_DESCENDANTS_H
#define GOTRACE_TARGET_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

/*
 * Lists the descendants of root in `proc` ("/proc"), except zombies and processes that cannot be traced.
 * Processes that were reparented because their parent ended are missing. Returns the number of pids, or a
 * negative errno. The caller frees *pids.
 */
int descendants(const char *proc, pid_t root, pid_t **pids, struct error *err);
/* Whether a process exists and is not a zombie, or is a zombie with other threads still alive. */
bool process_is_alive(const char *proc, pid_t pid);

#endif
