/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * If only starts are probed, a goroutine is known to have left its thread when the thread runs another one or
 * drops its P, or when the goroutine starts elsewhere. An op with that time is written then
 * (step_go_leave_unseen). Why and where it left is read when it starts again, or from a snapshot, and is
 * added to the same op.
 */
#ifndef GOTRACE_MODEL_GO_LEAVE_H
#define GOTRACE_MODEL_GO_LEAVE_H

#include "model/state.h"

enum leaving { YIELDED, PARKED, PREEMPTED }; /* raw_record.arg of SITE_RESUME */

/* How g left the last time, if that was not seen. arg2: of SITE_RESUME, or g.waitreason alone. */
void settle_leaving(struct model *md, struct g *g, enum leaving how, uint64_t arg2, uint32_t stack);

#endif
