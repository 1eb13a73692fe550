/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loads the BPF programs, attaches the plan, and drains the rings into the log. Also sets the pace of the
 * trace: decides when a generation ends, and takes a new snapshot after a loss.
 */
#ifndef GOTRACE_CAPTURE_CAPTURE_H
#define GOTRACE_CAPTURE_CAPTURE_H

#include "capture/options.h"

struct capture;

/* Loads the programs if the kernel has the features that they need. Returns 0 and sets *out, or returns a
 * negative errno. If a feature is missing, *err names it and how to get it. */
int capture_open(const struct capture_options *options, struct capture **out, struct error *err);
/* Attaches every probe of the plan, calibrates, and logs information about the target and the first snapshot.
 * Returns 0 or a negative errno. */
int capture_start(struct capture *capture, struct error *err);
/*
 * Returns the capabilities (as 1 << CAP_...) that this process, and the processes that read the target for
 * it, still need. Call it once the program is known: after capture_start() or target_bind().
 */
uint64_t capture_capabilities(struct capture *capture);
/*
 * Waits up to timeout_ms, drains, and ends generations when they are due. Returns 0, 1 if the target has
 * exited or exec'd (capture_end_reason() says which), or a negative errno, which may be the sink's.
 */
int capture_poll(struct capture *capture, unsigned timeout_ms, struct error *err);
/* Has the guard asked again now: a deadline that was set since may be near. */
void capture_look_at_guard(struct capture *capture);
/* Ends the open generation now. Call it between calls of capture_poll(). Returns 0 or a negative errno. */
int capture_boundary(struct capture *capture, struct error *err);
/* Adds a note of gotrace's to the trace: at most MAX_NOTE bytes of it. Returns 0 or a negative errno. */
int capture_note(struct capture *capture, const char *text);
/* Settles open system calls, ends recording, drains the rings, and writes LOG_END. capture_free() removes the
 * probes. The caller writes LOG_FUNCTAB (target_functab()). Returns 0 or a negative errno. */
int capture_stop(struct capture *capture, enum log_end_reason reason, struct error *err);
enum log_end_reason capture_end_reason(const struct capture *capture);
const struct capture_stats *capture_stats(struct capture *capture);
void capture_free(struct capture *capture);

#endif
