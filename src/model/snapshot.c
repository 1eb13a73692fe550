/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

void snapshot_free(struct model_snapshot *snap)
{
	free(snap->gs);
	free(snap->ps);
	free(snap->ms);
	free(snap->areas);
	free(snap->threads);
	*snap = (struct model_snapshot){0};
}

int snapshot_take(struct model_snapshot *snap, const struct log_record *record)
{
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
		return 1;
	}
}
