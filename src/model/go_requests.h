/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests that a Go program serves or makes (--requests), as tasks. */
#ifndef GOTRACE_MODEL_GO_REQUESTS_H
#define GOTRACE_MODEL_GO_REQUESTS_H

#include "model/go_hit.h"

void on_request(struct model *md, const struct probe_hit *hit);

#endif
