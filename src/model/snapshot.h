/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the model: a snapshot as it comes in pieces, and what its pieces mean. */
#ifndef GOTRACE_MODEL_SNAPSHOT_H
#define GOTRACE_MODEL_SNAPSHOT_H

#include "state.h"

/* The thread that g runs or is in a system call on; NULL if none, or if its M says otherwise. */
const struct log_m *snapshot_m_of(const struct snapshot *snap, const struct log_g *lg);
/* enum g_status, or G_DEAD for what is no goroutine now. */
uint8_t snapshot_g_status(const struct log_g *lg, const struct log_m *lm);
/* Address of the P that the thread holds, also in a system call; 0 if none. */
uint64_t snapshot_p_of(const struct log_m *lm);
/*
 * --- snapshot_gc.c: the collector at the first marker, by the snapshot and the
 * records early[from, to) between the markers ---
 */
void snapshot_start_gc(struct model *md, size_t from, size_t to);
/* After a loss: the differences, before the records since the first marker. */
void snapshot_resync_gc(struct model *md, size_t from);

#endif
