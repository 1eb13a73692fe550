/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gotrace -o FILE.perfetto-trace: the process is traced as ever, by a process of its own, into a directory
 * beside FILE; what is there at the end goes into FILE, and the directory is removed.
 */
#ifndef GOTRACE_CLI_RECORD_EXPORT_H
#define GOTRACE_CLI_RECORD_EXPORT_H

#include <stdbool.h>

#include "cli/options.h"

/* Whether the name of the output asks for it. */
bool record_exports(const char *output);
/* record() traces, in the new process, and returns an exit status; so does this. */
int record_export(const struct record_options *options, int (*record)(const struct record_options *options));

#endif
