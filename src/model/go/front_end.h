/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts of a Go program's front end (model/front_end.h). */
#ifndef GOTRACE_MODEL_GO_FRONT_END_H
#define GOTRACE_MODEL_GO_FRONT_END_H

#include "model/state.h"

/* --- start.c: the initial state of a Go program --- */

/* front_end.start */
void go_start(struct model *md, size_t from, size_t to);

/* --- observe.c: records of a Go program's probes --- */

/*
 * Whether the record is a probe hit on a thread of the target. Other records, such as CPU samples and off-CPU
 * times, show no state of goroutines and Ps.
 */
bool go_is_hit(const struct raw_record *rec);
void go_observe(struct model *md, const struct raw_record *rec);

/* --- resync.c: the state of a Go program after a loss --- */

/* front_end.resync */
void go_resync(struct model *md);

/* --- boundary.c: the Ms as read at a boundary --- */

/* front_end.settle */
void go_settle(struct model *md, const struct log_boundary *boundary, const struct log_m *ms);

#endif
