/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Interprets a snapshot of a Go program. */
#ifndef GOTRACE_MODEL_GO_SNAPSHOT_H
#define GOTRACE_MODEL_GO_SNAPSHOT_H

#include "model/snapshot.h"

/* Returns the thread on which lg is running or in a system call; NULL if none, or if its M disagrees. */
const struct log_m *snapshot_m_of(const struct model_snapshot *snap, const struct log_g *lg);
/* Returns an enum g_status; G_DEAD if lg is no goroutine now. lm: from snapshot_m_of(). */
uint8_t snapshot_g_status(const struct log_g *lg, const struct log_m *lm);
/* Returns the address of the P that the thread holds, even in a system call; 0 if none. */
uint64_t snapshot_p_of(const struct log_m *lm);
/* Whether the M is a Linux thread. */
bool snapshot_has_thread(const struct log_m *lm);

#endif
