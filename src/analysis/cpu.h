/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU time by function, from the trace's CPU samples. A sample counts for the first function of the program's
 * own code in its stack (code/symbol/library.h), so library functions count for their callers.
 */
#ifndef GOTRACE_ANALYSIS_CPU_H
#define GOTRACE_ANALYSIS_CPU_H

#include "analysis/finding.h"
#include "analysis/state.h"

/* Takes the samples of a generation, which are not in the order of the other ops. */
void cpu_gather(struct analysis *a, const struct generation *gen);
/* Counts those before this time, ns: goroutines are in the states that they had then. */
void cpu_count(struct analysis *a, uint64_t before);
/* The samples that the table is about: those outside the scheduler. */
uint64_t cpu_counted(const struct analysis *a);
/* The CPU time that a sample stands for, ns. */
double cpu_sample_ns(const struct analysis *a);
/* The library function (a string) that two thirds of the row's samples are in: the one at the leaf, else the
 * one that the program's own code calls; 0 = none. */
uint32_t cpu_leaf(const struct analysis *a, uint32_t row);
/* "main.hash (hash.go:33) in sha256.block": the row's most sampled line, and cpu_leaf(). */
struct label cpu_place(const struct analysis *a, uint32_t row);
/* If there is no cpu_leaf(): what the row's code calls, where a tenth of the samples is. */
void cpu_leaves_evidence(const struct analysis *a, struct finding *finding, uint32_t row);
/* The heaviest row of a list of rows; 0 = none. */
uint32_t cpu_first(const struct top tops[TOPS]);

#endif
