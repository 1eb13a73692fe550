/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Writes traces as tables for engines that query many traces (export/lake.h). */
#ifndef GOTRACE_CLI_LAKE_H
#define GOTRACE_CLI_LAKE_H

#include "cli/options.h"

/*
 * Writes the files of all inputs below the directory options->output, in a process without privileges
 * (confined.h). An input that cannot be read gets a message, and the others are written. Returns the exit
 * status.
 */
int lake_run(const struct convert_options *options);

#endif
