/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gotrace -o FILE.perfetto-trace: the process is traced as ever, by a process of its own, into files without
 * names beside FILE, so that nothing is left if gotrace is killed. At the end they go into FILE.
 */
#ifndef GOTRACE_CLI_RECORD_EXPORT_H
#define GOTRACE_CLI_RECORD_EXPORT_H

#include <stdbool.h>

#include "cli/options.h"

struct output;
struct titles;

/* What the process that traces gets. */
struct record_parts {
	struct titles *titles;       /* the processes are noted there */
	int trace;                   /* the file for the only process's trace, which takes it over; or: */
	const struct output *beside; /* with --children: file_server_options */
	int socket;                  /* the same */
};

/* Whether the name of the output asks for it. */
bool record_exports(const char *output);
/* record() traces, in the new process, and returns an exit status; so does this. */
int record_export(const struct record_options *options, int (*record)(const struct record_options *options));

#endif
