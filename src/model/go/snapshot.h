/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Interprets a snapshot of a Go program. */
#ifndef GOTRACE_MODEL_GO_SNAPSHOT_H
#define GOTRACE_MODEL_GO_SNAPSHOT_H

#include "model/snapshot.h"
#include "model/state.h"

/* Returns the thread on which lg is running or in a system call; NULL if none, or if its M disagrees. */
const struct log_m *snapshot_m_of(const struct model_snapshot *snap, const struct log_g *lg);
/* Returns an enum g_status; G_DEAD if lg is no goroutine now. lm: from snapshot_m_of(). */
uint8_t snapshot_g_status(const struct log_g *lg, const struct log_m *lm);
/* Returns the address of the P that the thread holds, even in a system call; 0 if none. */
uint64_t snapshot_p_of(const struct log_m *lm);
/* Whether the M is a Linux thread. */
bool snapshot_has_thread(const struct log_m *lm);

/* --- snapshot_gc.c: the collector's state at a snapshot's first marker --- */

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
