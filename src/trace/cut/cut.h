/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cuts pieces out of a trace; each piece is a complete trace. The cutter takes generations of ops and passes
 * on those of a time interval and of some goroutines, in pieces of limited size. Each piece begins with the
 * statuses of all objects that it shows. Memory: one generation, plus the state of live objects.
 */
#ifndef GOTRACE_TRACE_CUT_CUT_H
#define GOTRACE_TRACE_CUT_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/ops/op.h"

struct cut_options {
	uint64_t from, to;     /* inclusive; the trace's clock, ns */
	const uint64_t *goids; /* show only these goroutines, sorted; NULL = all. Not owned. */
	size_t ngoids;
	size_t most_ops; /* approximate maximum number of ops per generation; 0 = as in the input */
	/* Takes one complete generation. Returns 0, or a negative errno that ends the pass. */
	int (*generation)(void *ctx, const struct generation *gen);
	/*
	 * Returns true if the piece ends with this generation of nops ops. Called before each generation but
	 * the trace's last one. The next generation then has number 1. NULL: one piece.
	 */
	bool (*ends)(void *ctx, size_t nops);
	void *ctx;
};

struct cutter;

/*
 * Copies *options. A piece whose beginning was not watched begins where the recording goes on; the states
 * before that are not known. Returns NULL when out of memory.
 */
struct cutter *cutter_new(const struct cut_options *options);
void cutter_free(struct cutter *cutter);
/* Processes the next generation of the trace. Returns 0, -ENOMEM, or the error of a callback. */
int cutter_generation(struct cutter *cutter, const struct generation *gen);
/* Returns the number of ops passed on, not counting the head of each generation. */
uint64_t cutter_ops(const struct cutter *cutter);
/*
 * Returns the number of recording gaps that no piece reports: a piece began inside the gap, or a goroutine
 * that is not shown logged it. The states during a gap are the last known ones.
 */
uint64_t cutter_unmarked_gaps(const struct cutter *cutter);

#endif
