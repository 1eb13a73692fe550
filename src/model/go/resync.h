/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The state of a Go program after a loss. */
#ifndef GOTRACE_MODEL_GO_RESYNC_H
#define GOTRACE_MODEL_GO_RESYNC_H

#include "model/state.h"

/* front_end.resync */
void go_resync(struct model *md);

#endif
