/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A flight recorder keeps the last seconds of a trace in memory and writes them to a file on a trigger. */
#ifndef GOTRACE_FLIGHT_FLIGHT_H
#define GOTRACE_FLIGHT_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "flight/share.h"
#include "flight/trigger.h"

/* A time from which and one until which something is wanted, ns. until_ns = 0: all that is kept. */
struct time_window {
	uint64_t from_ns, until_ns;
};

/* The recorder's limits and triggers. */
struct flight_plan {
	uint64_t window_ns; /* minimum time to keep */
	size_t max_bytes;   /* of a file, regardless of the window */
	/* How many recorders keep max_bytes together (flight/share.h); NULL = this one alone. */
	const flight_share *share;
	uint64_t after_ns; /* time to record after a trigger's match */
	struct trigger triggers[MAX_TRIGGERS];
	unsigned ntriggers;
};

#endif
