/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Records a process in a child process, into an unnamed file or a pipe. The child has the privileges; the
 * process that started it needs none while it waits, and ends the child when it ends itself.
 */
#ifndef GOTRACE_CLI_RECORDING_CHILD_H
#define GOTRACE_CLI_RECORDING_CHILD_H

#include "analysis/analysis.h"
#include "capture/cpu_limit.h"
#include "cli/options.h"
#include "util/error.h"

struct recording_child;

/* What the child has measured besides the trace, by now. */
struct recording_state {
	struct cpu_limit limit;
	uint64_t cost_ns; /* CPU time that tracing has cost the process */
};

/*
 * Starts it with the caller's privileges. Returns the descriptor of the trace, which the caller owns, or a
 * negative errno. The caller frees *child, also after an error. No other reader gets the trace, so it has the
 * newest format: those up to Go 1.21 do not say for what goroutines waited at its start.
 */
int recording_child_start(struct recording_child **child, const struct record_options *record,
			  struct error *err);
/*
 * The same, without an end, into a pipe: a trace of the newest format whose generations can be read one by
 * one. Returns the pipe. A child that cannot write to it ends.
 */
int recording_child_stream(struct recording_child **child, const struct record_options *record,
			   struct error *err);
/*
 * Sets what is known about the machine from a state (zeroed: the beginning of the recording) until now, and
 * sets the state to now. host->pid stays.
 */
void recording_child_describe(const struct recording_child *child, struct recording_state *since,
			      struct analysis_host *host);
/*
 * Waits until the child has ended, and describes its whole recording. Returns 0, or a negative errno;
 * err->text is "" if the child has printed the error.
 */
int recording_child_wait(struct recording_child *child, struct analysis_host *host, struct error *err);
void recording_child_free(struct recording_child *child); /* NULL is allowed */
/* Ends the recording, waits for it, and frees it. NULL is allowed. */
void recording_child_end(struct recording_child *child);

#endif
