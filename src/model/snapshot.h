/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A snapshot, as its records come. */
#ifndef GOTRACE_MODEL_SNAPSHOT_H
#define GOTRACE_MODEL_SNAPSHOT_H

#include "rawlog/rawlog.h"

struct model_snapshot {
	bool open;
	struct log_snapshot info;
	struct log_heap heap; /* all 0: not known */
	struct log_g *gs;
	struct log_p *ps;
	struct log_m *ms;
	size_t ngs, nps, nms;
	struct log_area *areas;
	size_t nareas;
	struct log_g_labels *labels;
	size_t nlabels;
	struct log_thread *threads;
	size_t nthreads;
};

/*
 * Takes a record from LOG_SNAPSHOT to LOG_SNAPSHOT_END. Returns 1 if the snapshot is complete now, 0, or
 * -ENOMEM.
 */
int snapshot_take(struct model_snapshot *snap, const struct log_record *record);
void snapshot_free(struct model_snapshot *snap);

#endif
