/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Applies one op to the state. */
#ifndef GOTRACE_ANALYSIS_STEP_H
#define GOTRACE_ANALYSIS_STEP_H

#include "analysis/state.h"

void step(struct analysis *a, const struct op *op);
void goroutines_end(struct analysis *a);

#endif
