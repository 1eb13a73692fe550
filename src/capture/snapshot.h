/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: drains the rings, and takes snapshots that are ordered among the records. */
#ifndef GOTRACE_CAPTURE_SNAPSHOT_H
#define GOTRACE_CAPTURE_SNAPSHOT_H

#include "capture/state.h"

/* Drains the rings and notifies the control thread. Returns as drain_all() does. */
int capture_drain(struct capture *capture);
/*
 * Takes a snapshot between two markers, and logs it after every record from the time in which it was read.
 * Returns 0, -ESRCH if the target is exiting, or another negative errno.
 */
int capture_snapshot(struct capture *capture, struct error *err);
/*
 * Waits until hits that found the lease closed have finished, and drains the rings meanwhile. Call it after
 * opening the lease and before reading the target, so that the snapshot includes their effects. Returns 0 or
 * a negative errno.
 */
int capture_let_hits_end(struct capture *capture);

#endif
