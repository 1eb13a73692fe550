/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* For commands that inspect a process without tracing it. Files and memory are read without privileges. */
#ifndef GOTRACE_CLI_WITH_INSPECTOR_H
#define GOTRACE_CLI_WITH_INSPECTOR_H

#include <sys/types.h>

#include "sandbox/sandbox.h"

/*
 * Starts an inspector and a broker that lets it read the process, calls work(), and ends both. Call it before
 * there are other threads. Returns the result of work(), or a negative errno if they cannot be started.
 */
int with_inspector(pid_t pid, int (*work)(struct sandbox *inspector, void *ctx, struct error *err), void *ctx,
		   struct error *err);

#endif
