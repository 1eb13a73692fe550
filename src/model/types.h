/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Options and statistics of the model: the data types of model.h. */
#ifndef GOTRACE_MODEL_TYPES_H
#define GOTRACE_MODEL_TYPES_H

#include "rawlog/rawlog.h"
#include "trace/ops/op.h"

/*
 * Takes one closed generation, which the model owns and which is valid during the call. Returns 0 or a
 * negative errno.
 */
typedef int (*generation_sink)(void *ctx, const struct generation *gen);

struct goroutine_stats;

struct model_options {
	generation_sink sink;
	void *ctx;
	/* Whether the goroutines of a row are the runtime's own; NULL: none are. */
	bool (*is_system)(void *ctx, const struct goroutine_stats *row);
	struct strtab *strings; /* not owned; shared with symbol */
	/*
	 * Any generation may be the first one of a file, and the format is 1.22 or later: each generation
	 * announces all open ranges, and stacks may be dropped when the log repeats them (LOG_NOTE_RENEW).
	 */
	bool any_first;
	/* A generation is closed early at this many ops besides statuses; 0 = default. */
	size_t generation_ops;
};

/* Time per state and counts, for the summary. The last reason stands for all that do not fit. */
enum { STAT_REASONS = 24 };

/* One row per start function. */
struct goroutine_stats {
	uint64_t startpc; /* 0 = not known */
	uint32_t name;    /* of threads: string id of start routine and comm; 0 for goroutines */
	uint64_t count;   /* goroutines seen */
	bool system;      /* they are the runtime's own */
	/*
	 * Their sum is the goroutines' lifetime within the trace, except that of threads, running_ns includes
	 * syscall_ns.
	 */
	uint64_t running_ns, runnable_ns, syscall_ns, waiting_ns, not_watched_ns;
	uint64_t off_cpu_ns; /* part of running_ns in which their threads had no CPU */
	struct {
		uint32_t reason; /* string id, 0 = unused */
		uint64_t ns;
	} waiting[STAT_REASONS]; /* their sum is waiting_ns */
};

enum stat_order { BY_RUNNING, BY_RUNNABLE, BY_BLOCKED, BY_COUNT };

/* Statistics of the whole program. Complete after model_finish(). */
struct program_stats {
	uint64_t goroutines, goroutines_at_start, goroutines_peak, goroutines_at_end; /* not the runtime's */
	uint32_t gomaxprocs;                                                          /* the last one */
	uint64_t procs_ns; /* the integral of GOMAXPROCS over the watched time */
	/* Of all Ps; their sum is the time that the Ps existed. */
	uint64_t p_running_ns, p_syscall_ns, p_idle_ns, p_not_watched_ns;
	/* From runnable to running, of goroutines that are not the runtime's. */
	uint64_t latency_count, latency_p50_ns, latency_p99_ns, latency_max_ns;
	uint64_t gc_cycles, gc_ns;              /* cycles begun or found running; time while one ran */
	uint64_t assists_ns;                    /* goroutines ran in mark assists */
	uint64_t stw_count, stw_ns, stw_max_ns; /* stopped world, for any reason */
};

struct model_stats {
	uint64_t start_ns, end_ns; /* of the trace */
	uint64_t generations;
	uint64_t ops;
	/* Normal ops without an observation of their own (fast ends of system calls, starts). */
	uint64_t inferred;
	uint64_t inferred_starts; /* of these: starts of goroutines */
	uint64_t repaired;        /* ops made up to keep the trace valid */
	uint64_t goroutines;      /* seen */
	uint64_t unnumbered;      /* goroutines whose id was never seen: they have a made-up one */
	struct log_loss loss;     /* what capture lost */
	uint64_t unwatched_ns;    /* part of the time in between in which nothing was recorded */
	/* Of the time that was watched: the limit on overhead left out system calls, or frames of stacks. */
	uint64_t no_calls_ns, few_frames_ns;
	uint64_t incomplete;      /* notes that part of the program was not observed */
	uint32_t incomplete_note; /* string id of the first one */
	uint64_t by_kind[OP_KIND_COUNT];
};

#endif
