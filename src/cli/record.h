/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace -p PID for other commands. */
#ifndef GOTRACE_CLI_RECORD_H
#define GOTRACE_CLI_RECORD_H

#include "cli/options.h"

/* Records with these options, which must be valid. Prints errors itself. Returns an enum exit_status. */
int record_process(const struct record_options *options);

#endif
