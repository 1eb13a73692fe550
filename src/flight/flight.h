/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A flight recorder keeps the last seconds of a process in memory, and writes them when something happens. */
#ifndef GOTRACE_FLIGHT_H
#define GOTRACE_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "flight/trigger.h"

/* What is kept, and what is waited for. */
struct flight_plan {
	uint64_t window_ns; /* at least so much of what was last */
	size_t max_bytes;   /* of a file, whatever the window is */
	uint64_t after_ns;  /* recorded past a trigger's moment */
	struct trigger triggers[MAX_TRIGGERS];
	unsigned ntriggers;
};

#endif
