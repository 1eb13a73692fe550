/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* From ops, through the ledger, to what goroutines and Ps do. */
#ifndef GOTRACE_ANALYSIS_STEP_H
#define GOTRACE_ANALYSIS_STEP_H

#include "analysis/state.h"

void analysis_step(struct analysis *a, const struct op *op);
void states_begin(struct analysis *a);
/* Ends the states of all goroutines at the trace's end, and the ledger. */
void states_end(struct analysis *a);

#endif
