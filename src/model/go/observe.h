/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Records of a Go program's probes. */
#ifndef GOTRACE_MODEL_GO_OBSERVE_H
#define GOTRACE_MODEL_GO_OBSERVE_H

#include "model/state.h"

/*
 * Whether the record is a probe hit on a thread of the target. Other records, such as CPU samples and off-CPU
 * times, show no state of goroutines and Ps.
 */
bool go_is_hit(const struct raw_record *rec);
void go_observe(struct model *md, const struct raw_record *rec);

#endif
