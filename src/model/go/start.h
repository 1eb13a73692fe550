/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The initial state of a Go program. */
#ifndef GOTRACE_MODEL_GO_START_H
#define GOTRACE_MODEL_GO_START_H

#include "model/state.h"

/* front_end.start */
void go_start(struct model *md, size_t from, size_t to);

#endif
