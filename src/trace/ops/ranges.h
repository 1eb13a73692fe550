/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the automaton: ranges of a goroutine or a P (stop-the-world, mark assist, sweep). */
#ifndef GOTRACE_TRACE_OPS_RANGES_H
#define GOTRACE_TRACE_OPS_RANGES_H

#include "trace/ops/automaton.h"

/* As sched_check() and sched_apply(), for ranges only. Other ops are valid and change nothing. */
bool ranges_check(const struct sched *sched, const struct op *op, struct violation *violation);
int ranges_apply(struct sched *sched, const struct op *op);

#endif
