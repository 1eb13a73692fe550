/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * If only starts are probed, a goroutine has left its thread by the time the thread runs another one or drops
 * its P, or the goroutine starts elsewhere. An op with that time is written then (step_go_leave_unseen). The
 * reason and the stack are read when it starts again, or from a snapshot, and added to that op.
 */
#ifndef GOTRACE_MODEL_GO_LEAVE_H
#define GOTRACE_MODEL_GO_LEAVE_H

#include "model/state.h"

enum leaving { YIELDED, PARKED, PREEMPTED }; /* raw_record.arg of SITE_RESUME */

/* Completes g's last leave, if that was not observed. arg2: of SITE_RESUME, or g.waitreason alone. */
void settle_leaving(struct model *md, struct g *g, enum leaving how, uint64_t arg2, uint32_t stack);

#endif
