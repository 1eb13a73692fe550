/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A process without privileges that exports recorded traces into an open file. It is started before the
 * recording, as long as privileges can be given up for ids that nothing else has, and gets the traces at the
 * end.
 */
#ifndef GOTRACE_CLI_EXPORT_PROCESS_H
#define GOTRACE_CLI_EXPORT_PROCESS_H

#include <sys/types.h>

#include "cli/attended.h"
#include "pipeline/output.h"

struct export_process {
	int socket; /* to it; -1 = none */
	struct attended child;
};

struct export_process_options {
	const struct output *out;
	int titles;    /* file of the processes' titles, complete when export_process_run() is called */
	int unused[2]; /* descriptors that it must not hold; -1 = none */
};

int export_process_start(struct export_process *export, const struct attendant *attendant,
			 const struct export_process_options *options, struct error *err);
/* In another child of the same process. */
void export_process_forget(struct export_process *export);
/* Passes on a trace; pid 0: of the first process in titles. The caller keeps fd. Returns 0 or a negative
 * errno. */
int export_process_put(struct export_process *export, int fd, pid_t pid);
/* Exports all of them. Returns the exit status. The output is complete, but has no name yet. */
int export_process_run(struct export_process *export, const struct attendant *attendant);
void export_process_end(struct export_process *export);

#endif
