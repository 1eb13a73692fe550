/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* gotrace flight --node: records all processes that match at the same time. */
#ifndef GOTRACE_CLI_FLIGHT_NODE_H
#define GOTRACE_CLI_FLIGHT_NODE_H

#include "cli/recorder.h"

/* Records until gotrace is to end. Returns the exit status. options: those of the recorder. */
int flight_node(struct recorder *recorder, struct flight_options *options);

#endif
