/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The collector's state at a snapshot's first marker. */
#ifndef GOTRACE_MODEL_GO_SNAPSHOT_GC_H
#define GOTRACE_MODEL_GO_SNAPSHOT_GC_H

#include "model/state.h"

/* Sets the state from the first snapshot and the early records [from, to) between its markers. */
void snapshot_start_gc(struct model *md, size_t from, size_t to);
/*
 * After a loss, before goroutines are placed: assists that ended unobserved end where their goroutines next
 * run.
 */
void snapshot_resync_assists(struct model *md);
/*
 * After a loss, once goroutines are placed: writes the other differences, using the early records from index
 * `from` on.
 */
void snapshot_resync_gc(struct model *md, size_t from);

#endif
