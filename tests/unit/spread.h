/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A recorded log, played as if a machine of many CPUs had made it: threads
 * wander over the CPUs, each group of CPUs has a ring, clocks differ, threads
 * are put off between clock, reservation and record. What the merge makes of
 * the rings goes to a model, whose ops can be compared.
 */
#ifndef GOTRACE_TEST_SPREAD_H
#define GOTRACE_TEST_SPREAD_H

#include <stdint.h>

#include "model/model.h"
#include "util/error.h"

struct spread_options {
	unsigned cpus;       /* 0: the log as it is */
	unsigned clock_ns;   /* clocks of CPUs are off by up to so much, either way */
	unsigned put_off_pm; /* records in a million whose thread is put off */
	uint64_t seed;
};

struct spread_result {
	unsigned rings;
	uint64_t records, stacks; /* that reached the model */
	uint64_t late, stuck; /* came after their time had been passed; looks that found a record unwritten */
	uint64_t without_stack; /* records that came before the stack they refer to */
	uint64_t swapped;       /* records of one thread or one goroutine that changed places */
	uint64_t ops, inferred, repaired, goroutines;
	uint64_t merge_ns;   /* spent in the merge and its sources; 0: the log as it is */
	struct lives *lives; /* what each goroutine did */
};

/* Plays the log in `path`. 0 or a negative errno. The result is to be freed. */
int spread_play(const char *path, const struct spread_options *options, struct spread_result *result,
		struct error *err);
void spread_free(struct spread_result *result);
/* Goroutines of both results that did the same in the same order, and how many there are in either. */
uint64_t spread_same(const struct spread_result *a, const struct spread_result *b, uint64_t *all);

#endif
