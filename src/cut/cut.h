/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A piece of a trace that is a trace itself: takes generations of ops, and
 * hands on those of an interval of time, of some goroutines, in pieces of some
 * number of ops. Each piece begins with the statuses of all that it shows.
 * Memory: one generation, and what is alive.
 */
#ifndef GOTRACE_CUT_H
#define GOTRACE_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/op.h"

struct cut_options {
	uint64_t from, to;     /* ns of the trace's clock, both included */
	const uint64_t *goids; /* sorted: these goroutines alone; NULL = all. Not owned */
	size_t ngoids;
	size_t most_ops; /* generations of no more ops than about this; 0 = as they come */
	/* Takes one generation, whole; 0 or a negative errno that ends the pass. */
	int (*generation)(void *ctx, const struct generation *gen);
	/*
	 * Whether the piece ends with a generation of so many ops; asked before each but the trace's last
	 * one. The next generation, if there is one, has number 1. NULL: never.
	 */
	bool (*ends)(void *ctx, size_t nops);
	void *ctx;
};

struct cutter;

/* NULL when out of memory. The options are copied. */
struct cutter *cutter_new(const struct cut_options *options);
void cutter_free(struct cutter *cutter);
/* The next generation of the trace. 0, -ENOMEM, or what the callback says. */
int cutter_generation(struct cutter *cutter, const struct generation *gen);
/* How many ops were handed on that are no statuses. */
uint64_t cutter_ops(const struct cutter *cutter);
/*
 * How often nothing was recorded for a time and no piece says so: a piece began then, or the note of it is of
 * a goroutine that is not shown. States over such a time are what was known last.
 */
uint64_t cutter_untold_gaps(const struct cutter *cutter);

#endif
