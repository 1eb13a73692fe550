/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: tracing several processes (--children). The BPF programs follow every fork; this is
 * the user-space side.
 */
#ifndef GOTRACE_CAPTURE_PROCESSES_H
#define GOTRACE_CAPTURE_PROCESSES_H

#include "capture/bpf.h"
#include "capture/native_tables.h"
#include "rawlog/rawlog.h"
#include "util/map64.h"

struct processes {
	struct native_tables *tables; /* not owned */
	struct map64 live;            /* traced processes, as far as records have shown */
	struct map64 stale;           /* processes whose code has to be read again */
	pid_t *found;                 /* at the start: descendants of the first process */
	unsigned nfound;
	uint64_t ended_cpu_ns, ended_bytes; /* what processes have used and moved that are gone by now */
	uint64_t cpu_ns;                    /* the last result of processes_cpu_ns() */
	bool execed; /* a process that exec'd may have gone to sleep before its code was known */
	bool full;   /* some processes are not traced, and that was reported */
	bool paused; /* forks are not followed at present */
	bool oom;
};

/* Reads the code of existing processes. Call it before records arrive. Returns 0, -ENOMEM, or the error of
 * reading /proc. */
int processes_find(struct processes *processes, pid_t root, struct error *err);
/* Traces root and all its descendants, including those forked meanwhile. Call it once the programs are
 * attached. Returns 0 or a negative errno. */
int processes_follow(struct processes *processes, const struct bpf *bpf, pid_t root, struct error *err);
/* Called for every record, in log order. */
void processes_on_record(struct processes *processes, const struct raw_record *rec);
/* Called periodically: reads code that is not known yet, for a bounded time. all: reads the code of all
 * processes again. Returns 0 or a negative errno. */
int processes_refresh(struct processes *processes, bool all, struct error *err);
/*
 * processes_pause() stops following forks, because there are more processes than can be handled.
 * processes_go_on() resumes, and adds the descendants that were missed.
 */
void processes_pause(struct processes *processes, struct bpf *bpf);
int processes_go_on(struct processes *processes, struct bpf *bpf, pid_t root, struct error *err);
/* Writes LOG_TARGET for the processes found since the last call. */
int processes_log(struct processes *processes, log_sink sink, void *ctx, struct error *err);
/* Called after an interval in which forks and ends were not seen: adds the processes that are followed by
 * now, writes LOG_TARGET for each new one, and forgets those that have ended. */
int processes_catch_up(struct processes *processes, const struct bpf *bpf, const struct log_outlet *outlet,
		       struct error *err);
/* Returns the CPU time in ns that the followed processes have used, those that have ended included. It never
 * decreases. */
uint64_t processes_cpu_ns(struct processes *processes, const struct bpf *bpf);
void processes_free(struct processes *processes);

#endif
