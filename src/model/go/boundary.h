/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The Ms as read at a boundary. */
#ifndef GOTRACE_MODEL_GO_BOUNDARY_H
#define GOTRACE_MODEL_GO_BOUNDARY_H

#include "model/state.h"

/* front_end.settle */
void go_settle(struct model *md, const struct log_boundary *boundary, const struct log_m *ms);

#endif
