/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: turns ring contents into log records, causes before effects. */
#ifndef GOTRACE_CAPTURE_DRAIN_H
#define GOTRACE_CAPTURE_DRAIN_H

#include <sys/types.h>

#include "capture/files.h"
#include "capture/kernel_symbols.h"
#include "capture/merge.h"
#include "capture/processes.h"
#include "capture/ring.h"
#include "capture/rings.h"
#include "rawlog/rawlog.h"
#include "util/error.h"

enum { DRAIN_BATCH = 1024 }; /* records per LOG_RECORDS: 64 KiB */

struct drain {
	struct ring rings[MAX_RINGS];
	unsigned nrings;
	struct ring_record next[MAX_RINGS]; /* last record peeked */
	struct ring_merge merge;            /* used with more than one ring */
	struct log_outlet outlet;
	int sink_error;
	bool is_held;                  /* the outlet is full: the rest stays in the rings */
	bool is_last;                  /* ignore whether the outlet is full */
	uint64_t until_ns;             /* drop later records, which were seen only in part; 0: keep all */
	double fill;                   /* of the fullest ring at the last check: 0 to 1 */
	pid_t pid;                     /* the target, for reading texts that the program could not */
	struct files files;            /* that threads wait for */
	struct kernel_symbols *kernel; /* NULL: stacks have no frames in the kernel. Not owned */
	struct processes *processes;   /* NULL: there is only one */
	uint64_t records, stacks;
	/* of the records: from system call tracepoints; a goroutine left its thread; of sweeps and growth of
	 * the heap */
	uint64_t syscalls, stops, heap;
	uint64_t functions;   /* of the records: of the user's functions */
	uint64_t samples;     /* of the records: CPU samples, which are no hits */
	uint64_t mapped;      /* of the records: code was mapped, or a program was exec'd */
	uint64_t last_marker; /* number of the newest marker seen */
	unsigned n;
	struct raw_record batch[DRAIN_BATCH];
	uint64_t stack[2 + SCAN_DEPTH + 1]; /* a raw_stack, aligned */
	uint64_t text[(sizeof(struct raw_text) + 2 * TEXT_MAX) / 8];
};

/* fds: the descriptors of plan->count ring buffers. */
int drain_open(struct drain *drain, const int *fds, const struct rings_plan *plan,
	       const struct log_outlet *outlet, struct error *err);
/*
 * Passes the present contents of the rings to the outlet: everything of a single ring, everything but the
 * last moment of several, and less if the outlet is full. Records that arrive meanwhile are left for the next
 * call. Returns the number of records, or a negative errno.
 */
int drain_all(struct drain *drain);
/* Continues until everything from before `time` (ns, not in the future) has been passed on. Returns 0 or a
 * negative errno. */
int drain_until(struct drain *drain, uint64_t time);
/* True if the rings are empty. */
bool drain_is_empty(struct drain *drain);
/* The number of records so far that cost the target a hit of a probe or a tracepoint. */
uint64_t drain_hits(const struct drain *drain);
/* Passes another record to the outlet, after the records drained so far. */
int drain_put(struct drain *drain, uint32_t type, const void *data, size_t size);
/* Logs what a process's descriptor (WAIT_*) refers to, unless the log already has it. */
int drain_describe_file(struct drain *drain, uint64_t key, uint64_t pid);
void drain_close(struct drain *drain);

#endif
