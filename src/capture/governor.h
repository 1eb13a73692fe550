/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The overhead governor: chooses the level of detail by its cost to the target, and by whether records are
 * read as fast as they arrive. Pure: capture carries out its decisions.
 */
#ifndef GOTRACE_CAPTURE_GOVERNOR_H
#define GOTRACE_CAPTURE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

/* From most detail to least. */
enum detail_level {
	LEVEL_EXACT,       /* every site is probed */
	LEVEL_LIGHT,       /* starts of goroutines are inferred: two hits per switch instead of three */
	LEVEL_STARTS_ONLY, /* only starts are probed: one hit per switch; wakers are not recorded */
	LEVEL_FEW_FRAMES,  /* and stacks are cut short */
	LEVEL_NO_SYSCALLS, /* and system calls are left out */
	LEVEL_OFF,         /* nothing is recorded until the mean cost is within the limit again */
};

enum { FEW_FRAMES = 12 }; /* per stack, from LEVEL_FEW_FRAMES on */

struct governor_options {
	enum detail_level first, last; /* bounds of the level */
	unsigned max_percent;          /* of the target's own CPU time; 0 = no limit */
	double free_share; /* share of one CPU that is always allowed, however little the target does */
};

/* Counts from one interval. */
struct governor_figures {
	uint64_t ns;      /* its length */
	uint64_t cost_ns; /* CPU time that the hits cost the target */
	uint64_t stops;   /* how often a goroutine left its thread; equals the number of starts */
	uint64_t heap;    /* hits of sweeps and heap growth */
	uint64_t cpu_ns;  /* CPU time of the target, including our hits; 0 = unknown */
	double fill;      /* used share of the space for records, at the interval's end */
};

/* Totals at the end of a time in which the target was watched, or was not. */
struct governor_window {
	bool watched;
	uint64_t cpu_ns;  /* CPU time of the target, including our hits; 0 = unknown */
	uint64_t cost_ns; /* CPU time that the hits cost the target, as governor_figures count it */
	uint64_t work;    /* bytes that the target has read and written; 0 = unknown */
};

/* What the target took for its work; newer windows count more. */
struct governor_effort {
	double cpu_ns, cost_ns, work;
};

struct governor {
	struct governor_options options;
	enum detail_level level;
	uint64_t at_ns;                        /* time spent at this level */
	uint64_t hold_ns;                      /* time at a level before the one above is tried again */
	bool tried;                            /* the last change was to more detail */
	bool heap;                             /* sweeps and heap growth are probed */
	uint64_t heap_at_ns;                   /* time since `heap` last changed */
	uint64_t heap_hold_ns;                 /* how long it stays off before it is tried again */
	double excess_ns;                      /* spent over the limit, and not yet compensated */
	struct governor_window last;           /* where the present window began */
	struct governor_effort plain, watched; /* of windows without and with probes */
	double true_cost; /* what a hit costs in all, as a multiple of what figures say */
	/* Of the last intervals at this level, ns; older ones count less. */
	double recent_cost_ns, recent_cpu_ns, recent_ns;
	double percent; /* their cost, in percent of the target's own CPU time */
	double share;   /* the same as a share of one CPU */
};

void governor_init(struct governor *governor, const struct governor_options *options);
/*
 * Compares the CPU time that the target took for its work with and without probes: the difference is what the
 * hits cost in all, with the caches and the scheduling that they disturb. Call it at the end of each window.
 */
void governor_learn(struct governor *governor, const struct governor_window *end);
/* Accounts for an interval of 50 ms or more. Returns true if the level or `heap` has changed. */
bool governor_update(struct governor *governor, const struct governor_figures *figures);
/* Lowers the level because records came faster than they could be read, but never to LEVEL_OFF. Returns true
 * if the level has changed. */
bool governor_lower(struct governor *governor);

#endif
