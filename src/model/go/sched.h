/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines: created, blocked, made runnable, started, ended. */
#ifndef GOTRACE_MODEL_GO_SCHED_H
#define GOTRACE_MODEL_GO_SCHED_H

#include "model/go/hit.h"

void on_park(struct model *md, const struct probe_hit *hit);
void on_preemptpark(struct model *md, const struct probe_hit *hit);
void on_gosched(struct model *md, const struct probe_hit *hit);
void on_unblock(struct model *md, const struct probe_hit *hit);
void on_execute(struct model *md, const struct probe_hit *hit);
void on_destroy(struct model *md, const struct probe_hit *hit);
void on_newproc(struct model *md, const struct probe_hit *hit);
void on_coro(struct model *md, const struct probe_hit *hit);

#endif
