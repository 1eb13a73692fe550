/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Plays a recorded log as if a machine with many CPUs had made it: threads move between CPUs, each group of
 * CPUs has a ring, clocks differ, and threads are delayed between clock, reservation and record. The merged
 * rings are fed to a model, whose ops can be compared.
 */
#ifndef GOTRACE_TEST_SPREAD_H
#define GOTRACE_TEST_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "annotate/annotate.h"
#include "util/error.h"

struct spread_options {
	unsigned cpus;       /* 0: the log unchanged */
	unsigned clock_ns;   /* the CPUs' clocks differ by up to this much, either way */
	unsigned put_off_pm; /* records per million whose thread is delayed */
	bool hotplug;        /* CPUs go and come, all that have the same ring together */
	uint64_t seed;
};

struct spread_result {
	unsigned rings;
	uint64_t records, stacks; /* that reached the model */
	/* late: records whose time had already been passed; stuck: rounds that found an unwritten record. */
	uint64_t late, stuck;
	uint64_t without_stack; /* records that came before the stack they refer to */
	uint64_t swapped;       /* records of one thread or one goroutine that were reordered */
	uint64_t ops, inferred, repaired, goroutines;
	uint64_t merge_ns;   /* time spent in the merge and its sources; 0: the log unchanged */
	struct lives *lives; /* the steps of each goroutine */
};

/* Plays the log in `path`. Returns 0 or a negative errno. The caller frees the result. */
int spread_play(const char *path, const struct spread_options *options, struct spread_result *result,
		struct error *err);
void spread_free(struct spread_result *result);
/* Returns the number of goroutines with the same steps in both results. *all: the number in either. */
uint64_t spread_same(const struct spread_result *a, const struct spread_result *b, uint64_t *all);

#endif
