/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Options of a capture, and its statistics. */
#ifndef GOTRACE_CAPTURE_OPTIONS_H
#define GOTRACE_CAPTURE_OPTIONS_H

#include "capture/features.h"
#include "capture/guard.h"
#include "capture/governor.h"
#include "capture/native_tables.h"
#include "rawlog/rawlog.h"
#include "target/process.h"
#include "target/target.h"
#include "util/error.h"

/* Destination of what concerns plugins of a Go program. Members may be NULL. */
struct plugin_outlet {
	int (*put_functab)(void *ctx, const struct log_record *record); /* takes a LOG_PLUGIN_FUNCTAB */
	void (*report)(void *ctx, const char *text); /* one line: why code of a plugin is not traced */
	void *ctx;
};

struct capture_options {
	const struct features *features;       /* not owned; of this kernel */
	struct target *target;                 /* not owned; a Go program */
	const struct probe_plan *plan;         /* not owned; for a Go program */
	struct process *process;               /* not owned; instead of target and plan: trace as threads */
	const struct function_plan *functions; /* not owned; may be NULL */
	pid_t pid;                             /* process to trace; may be a child that has not exec'd yet */
	/* Not owned. Opened before the process was first inspected (process_open_pidfd()). */
	int pidfd;
	/* Reads files with native code. Copied. NULL: they are read in this process. */
	const struct module_reader *reader;
	/* Started by gotrace: no first snapshot. The caller lets it run after capture_start(), and calls
	 * target_bind() before it polls. */
	bool spawned;
	/* Of a process traced as threads: also trace its descendants, in one log (rawlog/demux.h). */
	bool children;
	bool probe_only; /* attach empty programs to every site and log nothing: the minimum cost */
	/* Bytes of all rings, rounded up to powers of two pages; 0 = default (16 MiB, or 4 MiB each). */
	uint32_t ring_bytes;
	unsigned rings;     /* maximum number; 0 = one per eight CPUs */
	bool syscalls;      /* trace system calls */
	bool kernel_stacks; /* of threads: stacks of waits include kernel frames */
	bool off_cpu;       /* of a Go program: threads that have no CPU (SITE_OFF_CPU), CPU times, quota */
	bool cpus;          /* and the CPUs that they run on (SITE_CPU) */
	unsigned sample_hz; /* CPU samples per second of CPU time; 0 = none */
	struct governor_options governor; /* level of detail */
	unsigned generation_ms;           /* 0 = default (1000) */
	/* After this many stacks the kernel forgets which ones it has sent, and the log says so
	 * (LOG_NOTE_RENEW); 0 = never */
	uint64_t renew_stacks;
	const struct node_slot *node; /* not owned; of a recorder of a node; NULL = none */
	struct plugin_outlet plugins;
	struct log_outlet outlet;   /* destination of the log */
	struct capture_guard guard; /* decides when recording ends */
};

struct capture_stats {
	uint64_t records, stacks; /* drained */
	struct log_loss loss;     /* so far */
	uint64_t lost_samples;    /* the same for CPU samples, which leave no gap */
	enum detail_level level;  /* now */
	bool unwatched;           /* nothing is recorded at present */
	uint64_t unwatched_ns;    /* total time without recording, excluding the present gap */
	uint64_t start_ns;        /* when the first snapshot began, CLOCK_MONOTONIC; 0: there was none */
	uint64_t cost_ns;         /* CPU time that all hits so far cost the target */
	unsigned probes;          /* attached */
};

#endif
