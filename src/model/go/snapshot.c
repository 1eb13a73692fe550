/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/go/snapshot.h"

#include "model/entities.h"
#include "model/go/runtime.h"

bool snapshot_has_thread(const struct log_m *lm)
{
	return lm->tid && lm->tid < SYNTHETIC_TID;
}

const struct log_m *snapshot_m_of(const struct model_snapshot *snap, const struct log_g *lg)
{
	for (size_t i = 0; lg->m && i < snap->nms; i++) {
		const struct log_m *lm = &snap->ms[i];

		if (lm->m == lg->m)
			return lm->curg == lg->g && snapshot_has_thread(lm) ? lm : NULL;
	}
	return NULL;
}

uint8_t snapshot_g_status(const struct log_g *lg, const struct log_m *lm)
{
	switch (lg->status) {
	case GO_G_RUNNABLE:
		return G_RUNNABLE;
	case GO_G_RUNNING:
		return lm ? G_RUNNING : G_RUNNABLE;
	case GO_G_SYSCALL:
		return lm ? G_SYSCALL : G_RUNNABLE;
	case GO_G_WAITING: /* with an M, it runs: it stops the world or waits for a scan */
	case GO_G_COPYSTACK:
		return lm ? G_RUNNING : G_WAITING;
	case GO_G_PREEMPTED:
	case GO_G_LEAKED:
		return G_WAITING;
	default:
		return G_DEAD;
	}
}

uint64_t snapshot_p_of(const struct log_m *lm)
{
	/* Up to Go 1.25 entersyscall clears m.p and leaves the P in _Psyscall until another M takes it. */
	if (!lm->p && lm->status == GO_G_SYSCALL && lm->p_status == GO_P_SYSCALL)
		return lm->oldp;
	return lm->p;
}
