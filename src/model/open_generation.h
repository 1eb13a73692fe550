/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef GOTRACE_MODEL_OPEN_GENERATION_H
#define GOTRACE_MODEL_OPEN_GENERATION_H

#include "rawlog/rawlog.h"

struct open_generation {
	uint32_t number;        /* from 1; 0 = none is open */
	uint64_t start;         /* ns */
	uint64_t until;         /* ns: of the boundary that closes it; 0 = not known */
	struct log_clock clock; /* the newest */
	bool boundary_due;      /* waits for the end of a stop-the-world */
	bool renew_due;         /* stacks are to be forgotten at its end */
	bool procs_announced;   /* ProcsChange was written */
	bool gc_announced;      /* it has an event of a cycle, or announces that one runs */
};

#endif
