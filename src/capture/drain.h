/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: from the rings to log records, causes before effects. */
#ifndef GOTRACE_CAPTURE_DRAIN_H
#define GOTRACE_CAPTURE_DRAIN_H

#include <sys/types.h>

#include "capture/files.h"
#include "capture/merge.h"
#include "capture/processes.h"
#include "capture/ring.h"
#include "capture/rings.h"
#include "rawlog/rawlog.h"
#include "util/error.h"

enum { DRAIN_BATCH = 1024 }; /* records a LOG_RECORDS: 64 KiB */

struct drain {
	struct ring rings[MAX_RINGS];
	unsigned nrings;
	struct ring_record next[MAX_RINGS]; /* peeked last */
	struct merge merge;                 /* of more than one ring */
	log_sink sink;
	void *ctx;
	int sink_error;
	pid_t pid;                   /* the target, for texts that were not in memory */
	int memory;                  /* of it, /proc/PID/mem; -1: not open */
	struct files files;          /* that threads wait for */
	struct processes *processes; /* NULL: there is one */
	uint64_t records, stacks;
	/* of the records: from the tracepoints; a goroutine left its thread; of sweeps and the heap's growing
	 */
	uint64_t syscalls, stops, heap;
	uint64_t functions;   /* of the records: of the user's functions */
	uint64_t samples;     /* of the records: no hits at all */
	uint64_t mapped;      /* of the records: code was mapped, or another program is run */
	uint64_t last_marker; /* number of the newest marker that went by */
	unsigned n;
	struct raw_record batch[DRAIN_BATCH];
	uint64_t stack[2 + SCAN_DEPTH + 1]; /* a raw_stack, aligned */
	uint64_t text[(sizeof(struct raw_text) + 2 * TEXT_MAX) / 8];
};

/* fds: of plan->count ring buffers. */
int drain_open(struct drain *drain, const int *fds, const struct rings_plan *plan, log_sink sink, void *ctx,
	       struct error *err);
/*
 * Hands what is in the rings to the sink: of one ring all, of several all but
 * the last moment. Returns the number of records, or a negative errno.
 */
int drain_all(struct drain *drain);
/* Goes on until all from before `time` (ns, not in the future) has been handed on. 0 or a negative errno. */
int drain_until(struct drain *drain, uint64_t time);
/* Records so far that cost the target a hit, of a probe or a tracepoint. */
uint64_t drain_hits(const struct drain *drain);
/* Hands one other record to the sink, in its place behind what was drained. */
int drain_put(struct drain *drain, uint32_t type, const void *data, size_t size);
/* Tells the log of a process's descriptor (WAIT_*) if it does not know it. */
int drain_tell_file(struct drain *drain, uint64_t key, uint64_t pid);
void drain_close(struct drain *drain);

#endif
