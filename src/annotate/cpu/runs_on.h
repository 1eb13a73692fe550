/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tracks what runs on a thread along the ops of a generation. */
#ifndef GOTRACE_ANNOTATE_CPU_RUNS_ON_H
#define GOTRACE_ANNOTATE_CPU_RUNS_ON_H

#include "trace/ops/op.h"

struct runs_on {
	uint32_t g; /* the running goroutine, 0 = none */
	int32_t p;  /* the thread's P, or NO_P */
};

/* Applies an op of this thread. */
void runs_on_follow(struct runs_on *on, const struct op *op);

#endif
