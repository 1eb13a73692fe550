/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For commands that inspect a process without tracing it. Files and memory are read without privileges, and
 * what is found is used without privileges.
 */
#ifndef GOTRACE_CLI_WITH_INSPECTOR_H
#define GOTRACE_CLI_WITH_INSPECTOR_H

#include <sys/types.h>

#include "sandbox/sandbox.h"

struct inspector_job {
	pid_t pid;
	const char *layout; /* of --layout; NULL = none */
	int (*work)(struct sandbox *inspector, void *ctx, struct error *err);
	void *ctx;
};

/*
 * Starts an inspector and a broker that lets it read the process, confines this process for good
 * (sandbox_confine()), gives the table of --layout to the inspector, calls work(), and ends both. Call it
 * before there are other threads. Returns the result of work(), or a negative errno if that was not called.
 */
int with_inspector(const struct inspector_job *job, struct error *err);

#endif
