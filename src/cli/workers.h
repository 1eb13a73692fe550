/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The two processes without privileges that belong to one run of tracing, and what opens files for them: the
 * plain trace and the flight recorder alike.
 */
#ifndef GOTRACE_CLI_WORKERS_H
#define GOTRACE_CLI_WORKERS_H

#include <stdbool.h>

#include "capture/capture.h"
#include "sandbox/broker.h"
#include "sandbox/sandbox.h"
#include "writer/writer.h"

struct workers {
	struct broker *broker;
	struct sandbox inspector; /* reads the target's files and memory */
	struct writer *writer;    /* makes the trace */
};

/* Whether the run is to end; asked by the thread that waits for the inspector. */
struct workers_end {
	bool (*must_end)(void *ctx);
	void *ctx;
};

/*
 * Starts both: before there is any other thread. pid: may be looked at; 0 = none yet. flight and buffer: as
 * for writer_new; buffer 0: what there is memory for. After a failure, too, workers_close is due.
 */
int workers_open(struct workers *workers, pid_t pid, const struct flight_plan *flight, size_t buffer,
		 const struct workers_end *end, struct error *err);
void workers_close(struct workers *workers);
/* How capture is to read files with native code. Not for longer than workers. */
struct module_reader workers_reader(struct workers *workers);
/* Where the log of the run goes. Not for longer than workers. */
struct log_outlet workers_outlet(struct workers *workers);
/* Gives the writer the function table. If there is none, a message says that the trace has addresses only. */
void workers_functab(struct workers *workers, struct target *target);
/* Everything is attached: the broker keeps only what is needed from here on, which is returned in *needed. */
int workers_reduce(struct workers *workers, struct capture *capture, uint64_t *needed, struct error *err);
/* Whether one of them is stopped (SIGSTOP). By any thread. */
bool workers_are_stopped(struct workers *workers);
/* One of them has ended unasked; err says how if it was the inspector, writer_error if it was the writer. */
bool workers_have_exited(struct workers *workers, struct error *err);

#endif
