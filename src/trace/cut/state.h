/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the goroutines, Ps and threads of the piece, and their states. */
#ifndef GOTRACE_TRACE_CUT_STATE_H
#define GOTRACE_TRACE_CUT_STATE_H

#include "trace/ops/op.h"
#include "util/map64.h"

struct cut_goroutine {
	uint8_t status; /* enum g_status; 0 = does not exist */
	bool assists;
	uint8_t nstw; /* its open stop-the-worlds */
	uint8_t ends; /* their ends, counted backwards from the end of a piece */
	uint32_t m;
	uint32_t entry; /* stack of its entry function; 0 = unknown */
	uint32_t stack; /* its stack when it is not running; 0 = unknown */
};

struct cut_proc { /* a P */
	bool known, sweeps;
	uint8_t status; /* enum p_status */
	uint32_t m;
};

struct cut_thread {
	int32_t p;
	uint32_t g;
};

struct cut_state {
	struct cut_goroutine *goroutines; /* by index, as in ops */
	size_t goroutine_capacity;
	struct cut_proc *procs;
	size_t proc_capacity;
	struct map64 thread_by_id; /* index in threads */
	struct cut_thread *threads;
	size_t nthreads, thread_capacity;
	bool gc;
	uint32_t nstw; /* open stop-the-worlds */
};

void cut_state_free(struct cut_state *state);
/* Return the entry of an op's goroutine, P or thread, added if needed. NULL for NO_P or if out of memory. */
struct cut_goroutine *cut_goroutine(struct cut_state *state, uint32_t g);
struct cut_proc *cut_proc(struct cut_state *state, int32_t p);
struct cut_thread *cut_thread(struct cut_state *state, uint32_t m);
/* Applies an op to the state. Returns 0 or -ENOMEM. */
int cut_apply(struct cut_state *state, const struct op *op);

#endif
