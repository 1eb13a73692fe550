/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loads the BPF programs, attaches the plan, and drains the rings into the log. Also sets the pace of the
 * trace: decides when a generation ends, and takes a new snapshot after a loss.
 */
#ifndef GOTRACE_CAPTURE_H
#define GOTRACE_CAPTURE_H

#include "capture/options.h"

struct capture;

/* Loads the programs if the kernel has the features that they need. An error says what is missing and how to
 * get it. */
int capture_open(const struct capture_options *options, struct capture **out, struct error *err);
/* Attaches every probe of the plan, calibrates, and writes the target's information and the first snapshot to
 * the log. */
int capture_start(struct capture *capture, struct error *err);
/*
 * Returns the capabilities (as 1 << CAP_...) that are needed from now on, by this process and by the
 * processes that read the target for it. Call it when the program is known: first after capture_start(), or
 * after target_bind().
 */
uint64_t capture_capabilities(struct capture *capture);
/*
 * Waits up to timeout_ms, drains, and ends generations when they are due. Returns 0, 1 if the target has
 * exited or exec'd (capture_end_reason() says which), or a negative errno, which may be the sink's.
 */
int capture_poll(struct capture *capture, unsigned timeout_ms, struct error *err);
/* Ends the open generation now. Call it between two calls of capture_poll(). Returns 0 or a negative
 * errno. */
int capture_boundary(struct capture *capture, struct error *err);
/* Settles what is open, drains the rest, and writes LOG_END. capture_free() removes the probes. The caller
 * writes LOG_FUNCTAB (target_functab()). */
int capture_stop(struct capture *capture, enum log_end_reason reason, struct error *err);
enum log_end_reason capture_end_reason(const struct capture *capture);
const struct capture_stats *capture_stats(struct capture *capture);
void capture_free(struct capture *capture);

#endif
