/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much is looked at: decides by what it costs the target. Pure: what
 * is decided is for capture to do.
 */
#ifndef GOTRACE_CAPTURE_SHED_H
#define GOTRACE_CAPTURE_SHED_H

#include <stdbool.h>
#include <stdint.h>

/* From the most that is seen to the least. */
enum level {
	LEVEL_EXACT,       /* every site is probed */
	LEVEL_LIGHT,       /* starts of goroutines are inferred: two hits a switch instead of three */
	LEVEL_SPANS,       /* starts alone are probed: one hit a switch, and nobody knows who woke whom */
	LEVEL_FEW_FRAMES,  /* and stacks are cut short */
	LEVEL_NO_SYSCALLS, /* and system calls are left out */
	LEVEL_OFF,         /* nothing, until the mean is within the limit again */
};

struct shed_options {
	enum level first, last; /* stays within */
	unsigned max_percent;   /* of the target's own CPU time; 0 = no limit */
	double free_share;      /* of one CPU: so much is never too much, however little the target does */
};

/* What was counted in a stretch of time. */
struct shed_figures {
	uint64_t ns;       /* its length */
	uint64_t hits;     /* of uprobes */
	uint64_t syscalls; /* hits of tracepoints */
	uint64_t stops;    /* how often a goroutine left its thread: so often one was started */
	uint64_t heap;     /* hits (of the above) by sweeps and by the heap's growing */
	uint64_t cpu_ns;   /* CPU time of the target, our hits included; 0 = not known */
};

struct shed {
	struct shed_options options;
	uint64_t hit_ns; /* what a hit costs */
	enum level level;
	uint64_t at_ns;        /* how long at this level */
	uint64_t hold_ns;      /* how long a level is held before the one above is tried again */
	bool tried;            /* the last change was for more */
	bool heap;             /* sweeps and the heap's growing are probed */
	uint64_t heap_at_ns;   /* how long that has been so, or not */
	uint64_t heap_hold_ns; /* how long it is not before it is tried again */
	double debt_ns;        /* spent over the limit, and not made good yet */
	double percent;        /* cost of the last stretch, in percent of the target's own CPU time */
	double share;          /* the same of one CPU */
};

void shed_init(struct shed *shed, const struct shed_options *options, uint64_t hit_ns);
/* Takes in a stretch of 50 ms or more; true if the level or `heap` has changed. */
bool shed_update(struct shed *shed, const struct shed_figures *figures);

#endif
