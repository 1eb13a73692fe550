/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* All descendants of a process. */
#ifndef GOTRACE_TARGET_DESCENDANTS_H
#define GOTRACE_TARGET_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

/*
 * Lists the descendants that `proc` ("/proc") shows now, without the process itself, zombies, and processes
 * that cannot be traced. A process whose parent has ended has been reparented and is not found through it.
 * The caller frees *pids. Returns their number or a negative errno.
 */
int descendants(const char *proc, pid_t root, pid_t **pids, struct error *err);
/* Whether a process is alive: it exists and is not a zombie, or has threads that are not. */
bool process_is_alive(const char *proc, pid_t pid);

#endif
