/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* From ops, through the ledger, to what goroutines and Ps do. */
#ifndef GOTRACE_ANALYSIS_STEP_H
#define GOTRACE_ANALYSIS_STEP_H

#include "analysis/state.h"

void analysis_step(struct analysis *a, const struct op *op);
void states_begin(struct analysis *a);
/* Ends the states of all goroutines at the trace's end, and the ledger. */
void states_end(struct analysis *a);
/* --- wakes.c --- */

/* A waiting goroutine is woken. waker: NULL = not known. */
void wake_step(struct analysis *a, struct goroutine *g, struct goroutine *waker, const struct op *op);
/* Counts it among those that become runnable at once. */
void burst_count(struct analysis *a, struct goroutine *g);

/* --- notes.c --- */

/* A log event. g: whose it is; NULL = nobody's that is known. */
void note_step(struct analysis *a, const struct op *op, struct goroutine *g);
/*
 * What the live process says is newer than what the trace says. But what the machine's use was without
 * gotrace's own, and for how long threads waited, is only in the trace. All of it is about the whole
 * recording.
 */
void notes_take_host(struct analysis *a);

#endif
