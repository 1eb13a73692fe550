/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: who is there, and in what state, as the piece shows it. */
#ifndef GOTRACE_CUT_STATE_H
#define GOTRACE_CUT_STATE_H

#include "sched/op.h"
#include "util/map64.h"

struct cut_goroutine {
	uint8_t status; /* enum g_status; 0 = not there */
	bool assists;
	uint8_t nstw; /* it has stopped the world so often */
	uint8_t ends; /* of these, seen on the way back from the end of a piece */
	uint32_t m;
	uint32_t entry; /* stack of the function that it began with; 0 = not known */
	uint32_t stack; /* where it is, if it does not run; 0 = not known */
};

struct cut_place { /* a P */
	bool known, sweeps;
	uint8_t status; /* enum p_status */
	uint32_t m;
};

struct cut_thread {
	int32_t p;
	uint32_t g;
};

struct cut_state {
	struct cut_goroutine *goroutines; /* by index of ops */
	size_t goroutine_capacity;
	struct cut_place *places;
	size_t place_capacity;
	struct map64 thread_by_id; /* index in threads */
	struct cut_thread *threads;
	size_t nthreads, thread_capacity;
	bool gc;
	uint32_t nstw; /* open stop-the-worlds */
};

void cut_state_free(struct cut_state *state);
/* NULL when out of memory; for index and P of any op. */
struct cut_goroutine *cut_goroutine(struct cut_state *state, uint32_t g);
struct cut_place *cut_place(struct cut_state *state, int32_t p);
struct cut_thread *cut_thread(struct cut_state *state, uint32_t m);
/* What an op changes. 0 or -ENOMEM. */
int cut_apply(struct cut_state *state, const struct op *op);

#endif
