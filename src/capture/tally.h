/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the cost of hits to the target, by interval. */
#ifndef GOTRACE_CAPTURE_TALLY_H
#define GOTRACE_CAPTURE_TALLY_H

#include "capture/state.h"

enum { TALLY_MS = 50 }; /* the shortest interval */

/*
 * Counts the hits since the last call, and adds their cost to capture->cost_ns. Returns false and leaves
 * *figures unset if the last call was less than TALLY_MS ago. Returns false, but sets *figures, if the
 * interval is the first one or contains a gap.
 */
bool tally_take(struct capture *capture, uint64_t now, struct governor_figures *figures);
/* Returns the CPU time in ns that the target has used so far, with its descendants if they are traced. */
uint64_t tally_cpu_ns(struct capture *capture);
/* Returns the used share of the space for records: of the fullest ring or of the queue behind it, whichever
 * is fuller. */
double tally_fill(const struct capture *capture);

/* --- progress.c: what the target gets done, with and without probes --- */

/* Call it at the end of each time that was watched, once the probes are dropped, and of each that was not,
 * before they are attached again. The governor learns from the two what a hit costs. */
void progress_learn(struct capture *capture, bool watched);

#endif
