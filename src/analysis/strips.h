/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A piece of the time line for each finding: what the goroutines around its worst instance did, and who woke
 * whom. The trace is read twice: once to find the places, and once more to collect what happened there.
 */
#ifndef GOTRACE_ANALYSIS_STRIPS_H
#define GOTRACE_ANALYSIS_STRIPS_H

#include "analysis/analysis.h"

struct strips;

/* Takes the places of the findings, after the first pass. NULL when out of memory. */
struct strips *strips_new(const struct analysis *a);
void strips_free(struct strips *strips);
/* Makes `strips` the observer of a. Call at the start of the second pass, and again if that is restarted. */
void strips_watch(struct strips *strips, struct analysis *a);
/*
 * Writes a JSON object: the names of states, and a list with an entry for each finding, null if it has no
 * place. An entry has its window in ns since the trace's start, and for each goroutine the runs of one state,
 * in columns of the window. It is "truncated" if more happened there than was kept: each finding
 * has an equal share of the memory.
 */
void strips_json(const struct strips *strips, const struct analysis *a, FILE *out);

#endif
