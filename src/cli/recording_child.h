/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Records a process briefly, in a child process, into an unnamed file. The child has the privileges; the
 * process that started it needs none while it waits, and ends the child when it ends itself.
 */
#ifndef GOTRACE_CLI_RECORDING_CHILD_H
#define GOTRACE_CLI_RECORDING_CHILD_H

#include "analysis/analysis.h"
#include "cli/options.h"
#include "util/error.h"

struct recording_child;

/*
 * Starts it with the caller's privileges. Returns the descriptor of the trace, which the caller owns, or a
 * negative errno.
 */
int recording_child_start(struct recording_child **child, const struct record_options *record,
			  struct error *err);
/*
 * Waits until the trace is written, and stores what is known about the machine. Returns 0, or a negative
 * errno; err->text is "" if the child has printed the error.
 */
int recording_child_wait(struct recording_child *child, struct analysis_host *host, struct error *err);
void recording_child_free(struct recording_child *child); /* NULL is allowed */

#endif
