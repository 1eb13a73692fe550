/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Collects a snapshot from its records. */
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
	struct log_thread *threads;
	size_t nthreads;
};

/*
 * Takes one record of a snapshot, from LOG_SNAPSHOT to LOG_SNAPSHOT_END. Returns 1 if the snapshot is now
 * complete, 0 if not, or -ENOMEM.
 */
int snapshot_take(struct model_snapshot *snap, const struct log_record *record);
void snapshot_free(struct model_snapshot *snap);

#endif
