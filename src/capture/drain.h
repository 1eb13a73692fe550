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
	int wakeups; /* an epoll file, readable when a program has woken the reader of a ring */
	struct ring_record next[MAX_RINGS]; /* last record peeked */
	struct ring_merge merge;            /* used with more than one ring */
	struct log_outlet outlet;
	int sink_error;
	bool is_held;                  /* the outlet is full: the rest stays in the rings */
	bool is_last;                  /* ignore whether the outlet is full */
	uint64_t until_ns;             /* drop later records, which are incomplete; 0: keep all */
	double fill;                   /* of the fullest ring when the last round began: 0 to 1 */
	double rate;                   /* at which the fastest ring filled between the last two rounds, 1/s */
	uint64_t rated_ns;             /* when that was measured */
	uint64_t ends[MAX_RINGS];      /* ends of the rings at that time */
	pid_t pid;                     /* the target, for texts that the program could not read */
	struct files files;            /* files that threads wait for */
	struct kernel_symbols *kernel; /* not owned; NULL: stacks have no kernel frames */
	struct processes *processes;   /* NULL: there is only one */
	uint64_t records, stacks;
	/* Of the records: from system call and off-CPU tracepoints; goroutines that left their threads;
	 * sweeps and heap growth. */
	uint64_t syscalls, stops, heap;
	uint64_t functions; /* of the records: from the user's functions */
	uint64_t samples;   /* of the records: CPU samples, which are not hits */
	uint64_t mapped;    /* of the records: code was mapped, or a program was exec'd */
	uint64_t execs;     /* of the records: a program was exec'd */
	uint64_t last_ns;   /* time of the latest record, but for those of kernel tracepoints that go on after
			       an exec */
	uint64_t last_marker; /* number of the newest marker seen */
	unsigned n;
	struct raw_record batch[DRAIN_BATCH];
	uint64_t stack[2 + SCAN_DEPTH + 1]; /* a raw_stack, aligned */
	uint64_t text[(sizeof(struct raw_text) + 2 * TEXT_MAX) / 8];
};

/* Maps the rings. fds: file descriptors of plan->count ring buffers. Returns 0 or a negative errno. */
int drain_open(struct drain *drain, const int *fds, const struct rings_plan *plan,
	       const struct log_outlet *outlet, struct error *err);
/* Call it when drain->wakeups is readable: it then is not, until the next wakeup. */
void drain_woken(struct drain *drain);
/*
 * Passes the present contents of the rings to the outlet: all of a single ring, all but the last moment of
 * several, and less if the outlet is full. Leaves records that arrive meanwhile for the next call. Returns
 * the number of records and stacks, or a negative errno.
 */
int drain_all(struct drain *drain);
/* Drains until everything from before `time` (ns, not in the future) has been passed on. Returns 0 or a
 * negative errno. */
int drain_until(struct drain *drain, uint64_t time);
/* Returns true if the rings are empty. */
bool drain_is_empty(const struct drain *drain);
/* Returns the present fill of the fullest ring: 0 to 1. */
double drain_fill(const struct drain *drain);
/* Returns the number of records and stacks so far. */
uint64_t drain_count(const struct drain *drain);
/* Returns the number of records so far that cost the target a hit of a probe or a tracepoint. */
uint64_t drain_hits(const struct drain *drain);
/* Passes another record to the outlet, after the records drained so far. */
int drain_put(struct drain *drain, uint32_t type, const void *data, size_t size);
/* Logs what a file descriptor of a process refers to (key: WAIT_*), unless the log already has it. */
int drain_describe_file(struct drain *drain, uint64_t key, uint64_t pid);
void drain_close(struct drain *drain);

#endif
