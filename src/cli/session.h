/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tracing of one live process, for a trace (record.c) and for a flight recorder (flight.c): its workers,
 * what is known of the process, and capture. The functions are in the order in which they are called.
 */
#ifndef GOTRACE_CLI_SESSION_H
#define GOTRACE_CLI_SESSION_H

#include "capture/capture.h"
#include "cli/options.h"
#include "cli/workers.h"
#include "native/request_wants.h"
#include "report/status.h"

#define KEEP_ALL_CAPABILITIES UINT64_MAX

struct session {
	const struct record_options *options;
	const char *path;         /* of the program that gotrace starts; NULL: the process runs already */
	pid_t pid;                /* of the process; 0 until the program has been started */
	int pidfd;                /* of the process, held before it is first looked at; -1: none yet */
	struct features features; /* of this machine */
	struct workers workers;
	struct target *target;  /* a Go program; NULL: */
	struct process process; /* traced as threads */
	struct probe_plan plan;
	struct function_plan functions;
	struct request_wants wants; /* texts of those that are --requests */
	struct capture *capture;
	struct status_line status;
	_Atomic uint64_t deadline_ns; /* 0: none */
	/* What the main thread keeps once all is attached, beside what capture and the workers need. */
	uint64_t more_capabilities;
};

void session_init(struct session *session, const struct record_options *options, pid_t pid);
/* Whether this machine can trace Go programs or others; which of the two is known later. */
int session_check_machine(struct session *session, struct error *err);
/* Takes a pidfd of the process. */
int session_hold(struct session *session, struct error *err);
/* Starts the workers: before there is any other thread. flight: as for writer_new(). */
int session_open_workers(struct session *session, const struct flight_plan *flight, struct error *err);
/* Finds out what the process, or the program at `path`, is: a Go program, or one to be traced as threads. */
int session_open_target(struct session *session, struct error *err);
/* Refuses options that need a Go program. go_only: one more that was given; NULL: none. */
int session_check_options(const struct session *session, const char *go_only, struct error *err);
/* Finds the functions whose calls are to be traced, and where a Go program is to be probed. */
int session_make_plan(struct session *session, const struct function_want *functions, unsigned n,
		      struct error *err);
/*
 * Loads capture. outlet: where the log goes. renew_stacks: as in capture_options. The control thread ends the
 * recording on a signal, at the deadline, and when the trace has --max-size.
 */
int session_open_capture(struct session *session, const struct log_outlet *outlet, uint64_t renew_stacks,
			 struct error *err);
/*
 * Drains the ring every poll_ms until the recording ends, having given up what privileges are not needed any
 * more. Before each turn step() is called: it returns 0, an enum log_end_reason to end the recording, or a
 * negative errno with err set.
 */
enum log_end_reason session_follow(struct session *session, int poll_ms,
				   int (*step)(void *ctx, struct error *err), void *ctx, struct error *err);
/* Updates the status line. bytes: of the trace, or kept in memory. */
void session_show_status(struct session *session, uint64_t bytes);
/* Records that were lost so far. */
uint64_t session_lost(const struct session *session);
void session_close(struct session *session);

#endif
