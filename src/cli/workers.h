/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The two unprivileged processes of a run of tracing, and the broker that opens files for them. Used for the
 * plain trace and the flight recorder.
 */
#ifndef GOTRACE_CLI_WORKERS_H
#define GOTRACE_CLI_WORKERS_H

#include <stdbool.h>

#include "capture/capture.h"
#include "sandbox/broker.h"
#include "sandbox/sandbox.h"
#include "workers/writer/writer.h"

struct workers {
	struct broker *broker;
	struct sandbox inspector; /* reads the target's files and memory */
	struct writer *writer;    /* encodes the trace */
};

/* Whether the run is to end; called by the thread that waits for the inspector. */
struct workers_end {
	bool (*must_end)(void *ctx);
	void *ctx;
};

/*
 * Starts both. Call it before there are other threads. pid: a process that may be inspected; 0 = none yet.
 * flight and buffer: as for writer_new(); buffer 0 = depends on the free memory. Call workers_close() even
 * after a failure.
 */
int workers_open(struct workers *workers, pid_t pid, const struct flight_plan *flight, size_t buffer,
		 const struct workers_end *end, struct error *err);
void workers_close(struct workers *workers);
/* Lets capture read files with native code. Valid as long as workers. */
struct module_reader workers_reader(struct workers *workers);
/* The destination of the log. Valid as long as workers. */
struct log_outlet workers_outlet(struct workers *workers);
/*
 * Raises the priority of both for the recording, as far as gotrace may. Call it once the target has been
 * inspected: that can take seconds of CPU time.
 */
void workers_hurry(struct workers *workers);
/* Sends the function table to the writer. If there is none, reports that stacks have only addresses. */
void workers_functab(struct workers *workers, struct target *target);
/*
 * Call this when everything is attached. The broker keeps only the capabilities that are still needed, which
 * are stored in *needed.
 */
int workers_reduce(struct workers *workers, struct capture *capture, uint64_t *needed, struct error *err);
/* True if one of them is stopped (SIGSTOP). Any thread may call this. */
bool workers_are_stopped(struct workers *workers);
/* True if one of them has ended unexpectedly. Sets *err; for the writer, see writer_error(). */
bool workers_have_exited(struct workers *workers, struct error *err);

#endif
