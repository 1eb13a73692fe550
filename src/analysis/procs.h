/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the Ps are used for, over time. */
#ifndef GOTRACE_ANALYSIS_PROCS_H
#define GOTRACE_ANALYSIS_PROCS_H

#include "analysis/state.h"

void integrate(struct analysis *a, uint64_t now);
void proc_use(struct analysis *a, int32_t p, enum p_use use);
struct proc *proc_at(struct analysis *a, int32_t p);

#endif
