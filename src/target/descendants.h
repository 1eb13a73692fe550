/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The processes that a process has started, and those that these have. */
#ifndef GOTRACE_TARGET_DESCENDANTS_H
#define GOTRACE_TARGET_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

/*
 * Those that `proc` ("/proc") shows now, without the process itself, zombies and what cannot be
 * traced. One whose parents have ended is another's child. *pids is the caller's to free. Returns their
 * number or a negative errno.
 */
int descendants(const char *proc, pid_t root, pid_t **pids, struct error *err);
/* Whether a process lives: it is there, and no zombie, or some of its threads are not. */
bool process_lives(const char *proc, pid_t pid);

#endif
