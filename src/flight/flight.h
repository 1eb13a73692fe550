/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A flight recorder keeps the last seconds of a process in memory, and writes them when something happens. */
#ifndef GOTRACE_FLIGHT_H
#define GOTRACE_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "flight/trigger.h"

/* What the recorder keeps, and what triggers a snapshot. */
struct flight_plan {
	uint64_t window_ns; /* keep at least this much of the recent past */
	size_t max_bytes;   /* of a file, regardless of the window */
	uint64_t after_ns;  /* how long to record after a trigger's match */
	struct trigger triggers[MAX_TRIGGERS];
	unsigned ntriggers;
};

#endif
