/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: what hits cost the target. The kernel's part of a uprobe (the trap and its
 * emulation) is measured on gotrace itself at the start. The programs' part is measured in place, on the
 * target's stacks and caches: the programs time themselves in one tick of TIMED_TICKS (bpf/lease.bpf.h).
 */
#ifndef GOTRACE_CAPTURE_HIT_COST_H
#define GOTRACE_CAPTURE_HIT_COST_H

#include <stdint.h>

#include "bpf/record.h"

struct running_mean {
	uint64_t n, ns;         /* counted so far */
	double kept_n, kept_ns; /* the latest; older ones count less */
	uint64_t value;         /* ns; 0: not known yet */
};

struct hit_cost {
	uint64_t trap_ns; /* of a uprobe, without the program's work */
	/* Of a uprobe on a function that the user named. Its end may be single-stepped. */
	uint64_t function_ns;
	struct running_mean probes, calls;
};

/* Number of hits in an interval. */
struct hit_counts {
	uint64_t probes;    /* of uprobes in the runtime */
	uint64_t calls;     /* of tracepoints */
	uint64_t functions; /* of uprobes on the user's functions */
};

/* Updates the means from the programs' counters. */
void hit_cost_update(struct hit_cost *cost, const uint64_t counts[COUNTERS]);
/* Returns the cost of these hits in ns. */
uint64_t hit_cost_of(const struct hit_cost *cost, const struct hit_counts *hits);

#endif
