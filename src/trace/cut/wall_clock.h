/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* From wall-clock time to a trace's own. */
#ifndef GOTRACE_TRACE_CUT_WALL_CLOCK_H
#define GOTRACE_TRACE_CUT_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/ops/op.h"

/* Set wall_ns (since 1970), pass all generations in their order, then read the rest. */
struct wall_moment {
	uint64_t wall_ns;
	bool is_known; /* the trace has a wall clock */
	/*
	 * The trace's time of that moment, ns; 0 if it is before the clock's beginning. If the wall clock was
	 * set during the trace, the last generation that begins before the moment decides.
	 */
	uint64_t trace_ns;
};

void wall_moment_take(struct wall_moment *moment, const struct generation *gen);

#endif
