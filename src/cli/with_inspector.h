/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* For commands that look at a process and trace nothing: its files and memory are read without privileges. */
#ifndef GOTRACE_CLI_WITH_INSPECTOR_H
#define GOTRACE_CLI_WITH_INSPECTOR_H

#include <sys/types.h>

#include "sandbox/sandbox.h"

/*
 * Starts an inspector, and a broker that lets it look at the process; calls work(), and ends both. Returns
 * what that returns, or a negative errno if they cannot be started. Before there are other threads.
 */
int with_inspector(pid_t pid, int (*work)(struct sandbox *inspector, void *ctx, struct error *err), void *ctx,
		   struct error *err);

#endif
