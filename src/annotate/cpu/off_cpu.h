/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Running goroutines whose threads have no CPU, and the CPUs that they run on. The kernel reports an interval
 * when it is over (SITE_OFF_CPU). At the end of the generation, when every op is in its place, the intervals
 * are divided among the goroutines that ran on their threads: for the summary, and as regions of the trace.
 */
#ifndef GOTRACE_ANNOTATE_CPU_OFF_CPU_H
#define GOTRACE_ANNOTATE_CPU_OFF_CPU_H

#include "annotate/annotate.h"
#include "model/annotator.h"

/* An interval in which a thread had no CPU. */
struct off_cpu_interval {
	uint64_t since, until; /* ns */
	uint64_t throttled_ns; /* part of it due to a quota */
	uint32_t tid, taker;   /* taker: string id, 0 = none */
	uint8_t why;           /* enum off_cpu_why, for the part that was not throttled */
};

/* A thread moves to another CPU. */
struct cpu_move {
	uint64_t time; /* ns */
	uint32_t tid;
	uint32_t cpu; /* 1 + its number; 0: the thread has ended */
};

struct off_cpu_thread {
	struct thread_cpu cpu;
	/* The latest interval: its begin, how far it is known, and the throttled part of it, ns. */
	uint64_t since, until, throttled_ns;
	uint64_t cpu_seen, wait_seen; /* the kernel's figures at the last reading */
	uint32_t on;                  /* the CPU at the end of the previous generation, as in cpu_move */
};

struct off_cpu {
	struct model_view *view;
	bool left_out;                      /* for a time, it was not recorded */
	uint64_t region_ns;                 /* annotate_options.off_cpu_ns */
	bool known;                         /* the log has such records */
	uint64_t watched_since;             /* ns: earlier time is ignored */
	struct off_cpu_interval *intervals; /* of the open generation */
	size_t n, capacity;
	struct cpu_move *moves; /* of the open generation */
	size_t nmoves, move_capacity;
	bool knows_cpus; /* there was a move */
	struct off_cpu_thread *threads;
	size_t nthreads, thread_capacity;
	struct map64 thread_by_tid; /* -> index */
	struct cpu_taker *takers;
	size_t ntakers, taker_capacity;
	struct thread_cpu *listed;        /* for cpu_figures.threads */
	uint64_t off_ns[OFF_CPU_REASONS]; /* of running goroutines */
	struct log_quota quota, first_quota;
	char cgroup[256];
	bool has_quota, has_times;
};

void off_cpu_free(struct off_cpu *off);
/* Takes a SITE_OFF_CPU record. */
void off_cpu_take(struct off_cpu *off, const struct raw_record *rec);
/* Takes a SITE_CPU record. */
void off_cpu_take_move(struct off_cpu *off, const struct raw_record *rec);
/* Takes CPU times of the threads, as counted by the kernel: LOG_THREAD_TIMES. */
void off_cpu_take_times(struct off_cpu *off, const struct log_thread_times *times);
/* Takes a LOG_QUOTA. */
void off_cpu_take_quota(struct off_cpu *off, const struct log_record *record);
/* Divides the intervals. The generation's ops must be in their places, without the samples. */
void off_cpu_divide(struct off_cpu *off);
/*
 * Then writes logs of CPU_LOG_CATEGORY (--os=all). The message is a CPU number: the log's thread runs on that
 * CPU from then on. A log belongs to the goroutine that runs on the thread at that time, or to the next one.
 * Each generation has one for each thread that runs goroutines.
 */
void off_cpu_log_cpus(struct off_cpu *off);
/* The pointers are valid as long as the model. */
void off_cpu_figures(struct off_cpu *off, struct cpu_figures *figures);

#endif
