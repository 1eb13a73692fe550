/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the state of one trace. */
#ifndef GOTRACE_CAPTURE_STATE_H
#define GOTRACE_CAPTURE_STATE_H

#include "capture/bpf.h"
#include "capture/control.h"
#include "capture/drain.h"
#include "capture/hit_cost.h"
#include "capture/host.h"
#include "capture/origin.h"
#include "capture/processes.h"
#include "capture/sampler.h"
#include "capture/governor.h"
#include "capture/options.h"
#include "capture/watch.h"

/* The counters at the last computation of the cost. */
struct tally {
	uint64_t ns, hits, syscalls, stops, heap, functions, cpu_ns;
};

/* An interval that is not recorded. */
enum gap_state {
	GAP_NONE,
	GAP_CLOSING, /* recording has stopped; earlier records still have to be drained */
	GAP_OPEN,    /* noted in the log */
};

struct gap {
	enum gap_state state;
	uint64_t since_ns;
	const char *why;
	bool is_paused;         /* on purpose: over --max-overhead */
	bool misses;            /* what the program did was to be recorded, whatever its cost */
	uint64_t hold_until_ns; /* recording does not resume earlier */
	uint64_t end_ns;        /* of the previous gap */
	uint64_t resume_ns;     /* how long it took to go on after it */
};

enum { MAX_NOTE = 512 }; /* bytes of a note in the log */

enum { MAX_MS = 20000 }; /* Ms read at a boundary; Go's own limit is 10,000 */

/* The plugins of a Go program, numbered as in the target. */
struct plugin_set {
	bool is_possible;                       /* the program can open plugins */
	bool is_unreadable;                     /* the list could not be read */
	struct target_plugin *all[MAX_PLUGINS]; /* NULL: it cannot be probed */
	unsigned n, attached, named;            /* known; with probes; with their names in the log */
	uint64_t opened;                        /* lease.plugins before the list was last read */
	char missing[MAX_NOTE];                 /* for a note: what is not probed; "" = nothing */
};

struct backend;
struct native_tables;

struct capture {
	struct capture_options options;
	const struct backend *backend;
	struct native_tables *tables;  /* for threads: tables for walking native stacks */
	struct kernel_symbols *kernel; /* with --kernel-stacks */
	uint64_t next_refresh_ns;      /* of the tables */
	uint64_t refresh_after_ns;     /* no refresh before this time, even if code is mapped */
	struct processes processes;    /* with --children */
	struct bpf bpf;
	struct drain drain;
	struct capture_control control;
	struct gap gap;
	struct watch watch;
	struct sampler sampler;
	struct plugin_set plugins;
	struct capture_stats stats;
	struct log_loss reported;                          /* losses logged so far */
	uint64_t silent;                                   /* hits without a record, so far */
	struct hit_cost hit_cost;                          /* cost of a hit */
	uint64_t cost_ns;                                  /* cost of all hits so far */
	bool interrupted;                                  /* there was a gap since the last tally */
	const volatile struct off_cpu_slot *off_cpu_slots; /* mapped when first read; NULL before */
	struct host host;
	struct otel_resource origin; /* known once info_logged is set */
	bool origin_noted;           /* it is in the log */
	struct log_m *ms;
	uint64_t read_ms_after; /* drain.records when the Ms were last read */
	uint32_t markers;       /* number of markers used */
	uint64_t next_boundary_ns, next_snapshot_ns, next_exec_check_ns, next_heap_ns;
	uint64_t execed_ns;      /* the last record of a program that another one has replaced; 0: none has */
	uint64_t renewed_stacks; /* drain.stacks at the last renewal */
	uint64_t round_ns;       /* when the last round began */
	bool info_logged, snapshot_due;
	bool is_polled; /* the caller has begun to call capture_poll() */
	enum log_end_reason end_reason;
	struct governor governor;
	enum detail_level set_level; /* level of the attached probes */
	enum detail_level noted;     /* level last noted in the log */
	bool level_lowered;          /* the governor has lowered the level because records came too fast */
	struct tally tally;
};

#endif
