/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Traced function calls. */
#ifndef GOTRACE_MODEL_GO_FUNCTIONS_H
#define GOTRACE_MODEL_GO_FUNCTIONS_H

#include "model/go_hit.h"

void on_function(struct model *md, const struct probe_hit *hit);

#endif
