/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ps that change hands. */
#ifndef GOTRACE_MODEL_GO_PROCS_H
#define GOTRACE_MODEL_GO_PROCS_H

#include "model/go/hit.h"

void on_acquirep(struct model *md, const struct probe_hit *hit);
void on_releasep(struct model *md, const struct probe_hit *hit);
void on_take(struct model *md, const struct probe_hit *hit);
void on_procresize(struct model *md, const struct probe_hit *hit);

#endif
