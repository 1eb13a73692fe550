/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"

static int append(void **array, size_t *n, const struct log_record *record, size_t size)
{
	size_t more = record->size / size;
	void *bigger = realloc(*array, (*n + more) * size + 1);

	if (!bigger)
		return -ENOMEM;
	memcpy((char *)bigger + *n * size, record->data, more * size);
	*array = bigger;
	*n += more;
	return 0;
}

void snapshot_free(struct snapshot *snap)
{
	free(snap->gs);
	free(snap->ps);
	free(snap->ms);
	free(snap->areas);
	free(snap->threads);
	*snap = (struct snapshot){0};
}

static int end(struct model *md)
{
	if (md->phase == BEFORE_SNAPSHOT && md->threads) {
		threads_start(md);
	} else if (md->phase == BEFORE_SNAPSHOT) {
		start_from_snapshot(md);
	} else if (md->threads) {
		threads_resync(md);
		observe_early(md, find_marker(&md->early, md->snapshot.info.marker_before, md->early.n));
	} else {
		resync_to_snapshot(md);
		observe_early(md, find_marker(&md->early, md->snapshot.info.marker_before, md->early.n));
	}
	snapshot_free(&md->snapshot);
	return 0;
}

int snapshot_record(struct model *md, const struct log_record *record)
{
	struct snapshot *snap = &md->snapshot;

	if (record->type == LOG_SNAPSHOT) {
		snapshot_free(snap);
		snap->info = *(const struct log_snapshot *)record->data;
		snap->open = true;
		return 0;
	}
	if (!snap->open)
		return 0;
	switch (record->type) {
	case LOG_HEAP:
		snap->heap = *(const struct log_heap *)record->data;
		return 0;
	case LOG_GS:
		return append((void **)&snap->gs, &snap->ngs, record, sizeof(*snap->gs));
	case LOG_PS:
		return append((void **)&snap->ps, &snap->nps, record, sizeof(*snap->ps));
	case LOG_MS:
		return append((void **)&snap->ms, &snap->nms, record, sizeof(*snap->ms));
	case LOG_AREAS:
		return append((void **)&snap->areas, &snap->nareas, record, sizeof(*snap->areas));
	case LOG_THREADS:
		return append((void **)&snap->threads, &snap->nthreads, record, sizeof(*snap->threads));
	default:
		return end(md);
	}
}

const struct log_m *snapshot_m_of(const struct snapshot *snap, const struct log_g *lg)
{
	for (size_t i = 0; lg->m && i < snap->nms; i++) {
		const struct log_m *lm = &snap->ms[i];

		if (lm->m == lg->m)
			return lm->curg == lg->g && lm->tid && lm->tid < STAND_IN_TID ? lm : NULL;
	}
	return NULL;
}

uint8_t snapshot_g_status(const struct log_g *lg, const struct log_m *lm)
{
	/* Numbers of runtime2.go; the same in every release. */
	switch (lg->status) {
	case 1: /* _Grunnable */
		return G_RUNNABLE;
	case 2: /* _Grunning */
		return lm ? G_RUNNING : G_RUNNABLE;
	case 3: /* _Gsyscall */
		return lm ? G_SYSCALL : G_RUNNABLE;
	case 4: /* _Gwaiting; a goroutine that stops the world or waits for a scan still has its M, and runs
		 */
	case 8: /* _Gcopystack */
		return lm ? G_RUNNING : G_WAITING;
	case 9:  /* _Gpreempted */
	case 10: /* _Gleaked (1.26) */
		return G_WAITING;
	default:
		return G_DEAD;
	}
}

uint64_t snapshot_p_of(const struct log_m *lm)
{
	/* Up to Go 1.25 entersyscall clears m.p and leaves the P in _Psyscall (2) until somebody takes it. */
	if (!lm->p && lm->status == 3 && lm->p_status == 2)
		return lm->oldp;
	return lm->p;
}
