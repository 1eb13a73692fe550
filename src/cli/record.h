/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace -p PID for other commands. */
#ifndef GOTRACE_CLI_RECORD_H
#define GOTRACE_CLI_RECORD_H

#include "cli/options.h"

/* Records as the options say, which have been checked. Prints errors itself. Returns enum exit_status. */
int record_process(const struct record_options *options);

#endif
