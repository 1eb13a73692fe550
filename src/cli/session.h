/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tracing of one live process, for a trace (record.c) and for a flight recorder (flight.c): its workers,
 * what is known about the process, and capture. The functions are listed in calling order.
 */
#ifndef GOTRACE_CLI_SESSION_H
#define GOTRACE_CLI_SESSION_H

#include "capture/capture.h"
#include "cli/options.h"
#include "cli/workers.h"
#include "target/functions/request_wants.h"
#include "workers/summary/status.h"

struct session {
	const struct record_options *options;
	const char *path;         /* of the program that gotrace starts; NULL = the process already runs */
	pid_t pid;                /* of the process; 0 until the program has started */
	int pidfd;                /* of the process, opened before it is first inspected; -1 = none yet */
	struct features features; /* of this machine */
	struct workers workers;
	struct target *target;  /* a Go program; NULL = see process */
	struct process process; /* if it is traced as threads */
	struct probe_plan plan;
	struct function_plan functions;
	struct request_wants wants; /* texts of the functions for --requests */
	struct capture *capture;
	struct status_line status;
	_Atomic uint64_t deadline_ns; /* 0 = none */
	/* Kept by the main thread once all is attached, in addition to what capture and the workers need. */
	uint64_t more_capabilities;
};

void session_init(struct session *session, const struct record_options *options, pid_t pid);
/* Fails if this machine can trace neither Go programs nor others. The kind of program is known later. */
int session_check_machine(struct session *session, struct error *err);
/* Returns the capabilities (1 << CAP_...) that attaching to a process, and writing files about it, needs
 * here. */
uint64_t session_to_attach(const struct record_options *options);
/* Opens a pidfd of the process. */
int session_hold(struct session *session, struct error *err);
/* Starts the workers. Call it before there are other threads. flight: as for writer_new(). */
int session_open_workers(struct session *session, const struct flight_plan *flight, struct error *err);
/* Determines whether the process, or the program at `path`, is a Go program or is to be traced as threads. */
int session_open_target(struct session *session, struct error *err);
/* Refuses options that need a Go program. go_only: one more such option that was given, or NULL. */
int session_check_options(const struct session *session, const char *go_only, struct error *err);
/* Finds the functions whose calls are to be traced and, in a Go program, the probe points. */
int session_make_plan(struct session *session, const struct function_want *functions, unsigned n,
		      struct error *err);
/*
 * Loads capture. outlet: destination of the log. renews: the log repeats stacks from time to time, so that
 * memory for them is bounded. The control thread ends the recording on a signal, at the deadline, and when
 * the trace reaches --max-size.
 */
int session_open_capture(struct session *session, const struct log_outlet *outlet, bool renews,
			 struct error *err);
/*
 * Drops privileges that are no longer needed, then drains the rings until the recording ends.
 * Calls step() at least every 250 ms: it returns 0, an enum log_end_reason to end the recording, or a
 * negative errno with err set.
 */
enum log_end_reason session_follow(struct session *session, int (*step)(void *ctx, struct error *err),
				   void *ctx, struct error *err);
/* Updates the status line. bytes: of the trace, or kept in memory. */
void session_show_status(struct session *session, uint64_t bytes);
/* Returns the number of records lost so far. */
uint64_t session_lost(const struct session *session);
/* Prints a line if tracing ended because the process did, or became another program. */
void session_report_end(pid_t pid, enum log_end_reason reason);
void session_close(struct session *session);

#endif
