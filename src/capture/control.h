/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the work with deadlines. A thread that never blocks renews the lease as long as the
 * rings are drained, and ends the recording on time, even while the draining thread is busy with a request to
 * another process, a full queue or a file.
 */
#ifndef GOTRACE_CAPTURE_CONTROL_H
#define GOTRACE_CAPTURE_CONTROL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/attach.h"
#include "capture/guard.h"
#include "capture/lease.h"
#include "util/error.h"

struct capture_control {
	struct capture_guard guard;
	struct lease_holder lease;
	struct attachments *attachments; /* not owned */
	pthread_t thread;
	bool started;
	int wake;                    /* an eventfd: signals that recording has to end */
	int nudge;                   /* an eventfd: the thread is to look whether recording has to end */
	_Atomic int reason;          /* enum log_end_reason; 0: recording goes on */
	_Atomic uint64_t drained_ns; /* when the rings were last drained */
	_Atomic bool is_over;        /* the lease is closed, but not by gap_pause() */
	_Atomic bool is_held_up;     /* a process of gotrace is stopped */
	_Atomic bool is_settled;     /* the draining thread needs no more records */
	_Atomic uint64_t ended_ns;   /* when recording ended; 0: not yet */
};

/* Opens the lease and starts the thread. Attached programs record from here on. Returns 0 or a negative
 * errno. */
int control_start(struct capture_control *control, const struct capture_guard *guard,
		  struct attachments *attachments, volatile struct lease *lease, struct error *err);
/* Called by the draining thread: control_check() before each round, to find out whether the lease has
 * expired, and control_beat() after it. */
void control_check(struct capture_control *control);
void control_beat(struct capture_control *control);
/*
 * Waits up to timeout_ns, or until the process of this pidfd has ended, or `rings` is readable (-1: neither).
 * Returns true if recording has to end.
 */
bool control_wait(struct capture_control *control, int pidfd, int rings, uint64_t timeout_ns);
/* Opens the lease again after it was closed. */
void control_reopen(struct capture_control *control);
/* Has the thread ask its guard now whether recording has to end. */
void control_look(struct capture_control *control);
/* Ends recording now and starts removing the probes. Waits until nothing more is recorded, but not until the
 * kernel has detached them. */
void control_end(struct capture_control *control);
void control_free(struct capture_control *control);

#endif
