/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: one run of tracing. */
#ifndef GOTRACE_CAPTURE_STATE_H
#define GOTRACE_CAPTURE_STATE_H

#include "capture/bpf.h"
#include "capture/capture.h"
#include "capture/drain.h"
#include "capture/processes.h"
#include "capture/sampler.h"
#include "capture/shed.h"
#include "capture/watch.h"

/* The counters at the last look at the cost. */
struct tally {
	uint64_t ns, hits, syscalls, stops, heap, functions, cpu_ns;
};

enum { MAX_MS = 20000 }; /* Ms read at a boundary; Go's own limit is 10,000 */

struct backend;
struct native_tables;

struct capture {
	struct capture_options options;
	const struct backend *backend;
	struct native_tables *tables; /* of threads: by which native stacks are walked */
	uint64_t next_refresh_ns;     /* of these */
	struct processes processes;   /* with the children */
	struct bpf bpf;
	struct drain drain;
	struct watch watch;
	struct sampler sampler;
	struct capture_stats stats;
	struct log_loss told; /* losses that the log knows of */
	uint64_t silent;      /* hits that made no record, so far */
	uint64_t call_hit_ns; /* cost of a hit on a function of the user's, of which the backend's is not */
	struct log_m *ms;
	uint32_t markers; /* numbers given out */
	uint64_t next_boundary_ns, next_snapshot_ns, next_exec_check_ns, next_heap_ns;
	uint64_t renewed_stacks; /* drain.stacks at the last renewal */
	bool info_logged, snapshot_due;
	enum log_end_reason end_reason;
	struct shed shed;
	struct tally tally;
};

uint64_t capture_now_ns(void);
/* A new snapshot between two markers, handed on behind all that happened while it was read. */
int capture_snapshot(struct capture *capture, struct error *err);

#endif
