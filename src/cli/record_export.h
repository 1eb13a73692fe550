/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gotrace -o FILE.perfetto-trace: a child process traces as usual, into unnamed files in the directory of
 * FILE, so that nothing is left if gotrace is killed. At the end they are exported into FILE.
 */
#ifndef GOTRACE_CLI_RECORD_EXPORT_H
#define GOTRACE_CLI_RECORD_EXPORT_H

#include <stdbool.h>

#include "cli/options.h"

struct output;
struct titles;

/* Input of the child that traces. */
struct record_parts {
	struct titles *titles;       /* processes are added here */
	int trace;                   /* without --children: file for the trace; owned by record() */
	const struct output *beside; /* with --children: as in file_server_options */
	int socket;                  /* with --children: handed_to of file_server_options */
};

/* Whether the name of the output selects this format. */
bool record_exports(const char *output);
/* Runs record(), which traces, in a child process. Both return an exit status. */
int record_export(const struct record_options *options, int (*record)(const struct record_options *options));

#endif
