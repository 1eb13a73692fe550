/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loads the BPF programs, attaches the plan, drains the ring into the log.
 * Also the clock of the trace: it says when a generation ends and takes new
 * snapshots after a loss.
 */
#ifndef GOTRACE_CAPTURE_H
#define GOTRACE_CAPTURE_H

#include "capture/features.h"
#include "capture/shed.h"
#include "capture/native_tables.h"
#include "rawlog/rawlog.h"
#include "target/process.h"
#include "target/target.h"
#include "util/error.h"

struct capture_options {
	const struct features *features;       /* not owned; of this kernel */
	struct target *target;                 /* not owned; of a Go program */
	const struct probe_plan *plan;         /* not owned; the same */
	struct process *process;               /* not owned; instead of both: to be seen as threads */
	const struct function_plan *functions; /* not owned; the same, may be NULL */
	pid_t pid;                             /* process to trace; may be a child that has not exec'd yet */
	const struct module_reader *reader; /* of files with native code; copied, NULL: they are read here */
	bool spawned;        /* started by us: no first snapshot. The caller releases it after capture_start,
			      * and calls target_bind before it polls */
	bool children;       /* of a process that is seen as threads: its descendants, too, in one log
			      * (rawlog/split.h) */
	bool probe_only;     /* attach empty programs to every site, log nothing: the floor of the cost */
	uint32_t ring_bytes; /* of all rings; 0 = default (16 MiB, or 4 MiB each); rounded up to powers of two
			      * of pages */
	unsigned rings;      /* at most; 0 = one for eight CPUs */
	bool syscalls;       /* trace system calls */
	unsigned sample_hz;  /* CPU samples a second of CPU time; 0 = none */
	struct shed_options shed; /* how much is looked at */
	unsigned generation_ms;   /* 0 = default (1000) */
	log_sink sink;            /* where the log goes */
	void *ctx;
};

struct capture_stats {
	uint64_t records, stacks; /* drained */
	struct log_loss loss;     /* so far */
	uint64_t lost_samples;    /* the same for CPU samples: these leave no gap */
	enum level level;         /* now */
	uint64_t probe_hit_ns; /* calibrated on ourselves at the start: an own function with the same kind of
				  probe */
	unsigned probes;       /* attached */
};

struct capture;

/* Loads, if the kernel has what this needs. Errors say what lacks and how to get it. */
int capture_open(const struct capture_options *options, struct capture **out, struct error *err);
/* Attaches every probe of the plan, calibrates, writes the target's info and the first snapshot to the log.
 */
int capture_start(struct capture *capture, struct error *err);
/*
 * The capabilities (1 << CAP_...) that what follows takes, for this process and whoever reads the target for
 * it. To be asked when the program is known: the first time after capture_start, or after target_bind.
 */
uint64_t capture_capabilities(struct capture *capture);
/*
 * Waits up to timeout_ms, drains, ends generations when they are due. Returns
 * 0, 1 when the target has exited or exec'd (capture_end_reason says which), or
 * a negative errno (the sink's among them).
 */
int capture_poll(struct capture *capture, unsigned timeout_ms, struct error *err);
/* Settles what is open, drains what is left, writes LOG_END. The probes go with capture_free; LOG_FUNCTAB is
 * the caller's (target_functab). */
int capture_stop(struct capture *capture, enum log_end_reason reason, struct error *err);
enum log_end_reason capture_end_reason(const struct capture *capture);
const struct capture_stats *capture_stats(struct capture *capture);
void capture_free(struct capture *capture);

#endif
