/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A model with annotators: what rides along with the states of goroutines and threads. */
#ifndef GOTRACE_ANNOTATE_ANNOTATE_H
#define GOTRACE_ANNOTATE_ANNOTATE_H

#include "model/model.h"
#include "rawlog/awaited.h"

#define OFF_CPU_REGION_NS  1000000u
#define OFF_CPU_NO_REGIONS UINT64_MAX

/*
 * Inspects the ops of a generation that is about to be closed. All are in their places. CPU samples,
 * and the regions and logs of --os, follow. now: time of the end, ns. It may call annotate_log() and must not
 * keep the pointers.
 */
typedef void (*generation_watch)(void *ctx, const struct op *ops, size_t n, uint64_t now);

struct annotate_options {
	generation_watch watch; /* may be NULL */
	void *watch_ctx;
	/*
	 * Minimum length, ns, of an interval without a CPU that becomes a region of the running goroutine. 0:
	 * OFF_CPU_REGION_NS, or any length if CPUs are known; OFF_CPU_NO_REGIONS: no regions.
	 */
	uint64_t off_cpu_ns;
	bool locks; /* write what goroutines and threads wait for */
	/* The kind of lock that a goroutine with this stack waits for. May be NULL. */
	enum lock_kind (*lock_kind)(void *ctx, const struct stack *stack);
	void *lock_ctx;
};

/* Why a thread had no CPU. */
enum off_cpu_why {
	OFF_CPU_PREEMPTED,
	OFF_CPU_THROTTLED, /* by its cgroup's quota */
	OFF_CPU_PAGE_FAULT,
	OFF_CPU_ASLEEP,  /* in the kernel, for another reason */
	OFF_CPU_STOPPED, /* by a signal or a debugger */
	OFF_CPU_INTERRUPTS,
	OFF_CPU_REASONS
};

/* CPU time of a thread of a Go program within the trace; all times in ns. */
struct thread_cpu {
	uint32_t tid;
	bool has_times;              /* the next two are known */
	uint64_t on_cpu_ns, wait_ns; /* wait_ns: waited for a CPU, also after a wake-up */
	uint64_t off_ns[OFF_CPU_REASONS];
};

/* A program whose threads took the CPU from running goroutines. */
struct cpu_taker {
	uint32_t name; /* string id */
	uint64_t ns;
};

/* The kernel's figures of the CPUs that a Go program had. Complete after model_finish(). */
struct cpu_figures {
	bool known;                       /* the log has such records */
	uint64_t running_ns;              /* of all goroutines, as in their rows */
	uint64_t off_ns[OFF_CPU_REASONS]; /* part of it in which their threads had no CPU */
	bool left_out;                    /* off_ns was not recorded all the time: it is too small */
	uint64_t on_cpu_ns, wait_ns;      /* of all threads whose times are known */
	const struct cpu_taker *takers;   /* greatest first; their sum is off_ns[OFF_CPU_PREEMPTED] */
	unsigned ntakers;
	const struct thread_cpu *threads;
	unsigned nthreads;
	bool has_quota;
	struct log_quota quota;                            /* the latest */
	uint64_t throttled_ns, throttled_periods, periods; /* of the cgroup, in the trace */
	const char *cgroup;                                /* its path */
};

/* Makes a model with all annotators. options: NULL = the defaults. Returns NULL when out of memory. */
struct model *annotate_model_new(const struct model_options *model, const struct annotate_options *options);
/* The place of a log event that belongs at the end of the generation. */
enum { LOG_AT_END = -1 };

/*
 * For a generation_watch: adds a user log event directly after ops[place], of the goroutine that runs there,
 * with this stack (0: none). If place is LOG_AT_END or no goroutine runs there, the event goes to the end of
 * the generation, to a running goroutine or else to "gotrace".
 */
void annotate_log(struct model *model, long place, uint32_t stack, const char *text);
/* Of a model made here, after model_finish(). The model owns the memory behind the pointers. */
void annotate_cpu_figures(struct model *model, struct cpu_figures *figures);

#endif
