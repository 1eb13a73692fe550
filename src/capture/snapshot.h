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

/* --- notes.c: notes in the log on what is recorded from here on (LOG_NOTE) --- */

/* Adds a note; flags: enum log_note_flags. text: at most MAX_NOTE bytes. Returns 0 or a negative errno. */
int note_put(struct capture *capture, uint32_t flags, const char *text);
/* The same for a time in the past: CLOCK_MONOTONIC, ns. */
int note_put_at(struct capture *capture, uint64_t time, uint32_t flags, const char *text);
/* Adds a note on the level of detail if it has changed since the last such note. */
int note_level(struct capture *capture, uint32_t flags);

#endif
