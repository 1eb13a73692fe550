/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The flight recorder of one process, from its beginning to its end. */
#ifndef GOTRACE_CLI_FLIGHT_PROCESS_H
#define GOTRACE_CLI_FLIGHT_PROCESS_H

#include "cli/find_process.h"
#include "cli/recorder.h"

/*
 * Records the process until it ends or gotrace is to end. Calls began(ctx), which may be NULL, once it
 * records. Returns 0 and sets *status, the exit status if no process follows; or a negative errno and sets
 * *err if the process could not be recorded (-ENOEXEC: with --as go, if it is no Go program), with
 * STATUS_NONE.
 */
int flight_record(struct recorder *recorder, const struct found_process *process, void (*began)(void *ctx),
		  void *ctx, int *status, struct error *err);

#endif
