/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Records of a Go program's probes. */
#ifndef GOTRACE_MODEL_GO_OBSERVE_H
#define GOTRACE_MODEL_GO_OBSERVE_H

#include "model/state.h"

void go_observe(struct model *md, const struct raw_record *rec);

#endif
