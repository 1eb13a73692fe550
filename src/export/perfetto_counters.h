/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: counters, which change with nearly every event. Written at most once per ms. */
#ifndef GOTRACE_EXPORT_PERFETTO_COUNTERS_H
#define GOTRACE_EXPORT_PERFETTO_COUNTERS_H

#include "export/perfetto_tracks.h"
#include "export/timeline.h"

enum pf_counter {
	PF_COUNT_RUNNING,
	PF_COUNT_RUNNABLE,
	PF_COUNT_SYSCALL,
	PF_COUNT_WAITING,
	PF_HEAP,
	PF_HEAP_GOAL,
	PF_PROCS,
	PF_COUNTERS
};

struct pf_counters {
	struct pf_tracks *tracks;
	struct {
		uint64_t track;
		int64_t value, shown;
		bool known, was_shown;
	} all[PF_COUNTERS];
	uint64_t next_ns; /* earliest time of the next write */
};

int pf_counters_init(struct pf_counters *counters, struct pf_tracks *tracks);
int pf_counters_change(struct pf_counters *counters, const struct tl_change *change);
/* Ignores all ops but heap sizes and GOMAXPROCS. */
int pf_counters_op(struct pf_counters *counters, const struct op *op);
int pf_counters_flush(struct pf_counters *counters, uint64_t time);

#endif
