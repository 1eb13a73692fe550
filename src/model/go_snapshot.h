/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How a snapshot of a Go program is read. */
#ifndef GOTRACE_MODEL_GO_SNAPSHOT_H
#define GOTRACE_MODEL_GO_SNAPSHOT_H

#include "model/snapshot.h"

/* The thread that g runs or is in a system call on; NULL if none, or if its M disagrees. */
const struct log_m *snapshot_m_of(const struct model_snapshot *snap, const struct log_g *lg);
/* enum g_status, or G_DEAD for what is no goroutine now. lm: of snapshot_m_of. */
uint8_t snapshot_g_status(const struct log_g *lg, const struct log_m *lm);
/* Address of the P that the thread holds, also in a system call; 0 if none. */
uint64_t snapshot_p_of(const struct log_m *lm);
/* The M is a thread of Linux. */
bool snapshot_has_thread(const struct log_m *lm);

#endif
