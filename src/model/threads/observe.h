/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel's records about threads. */
#ifndef GOTRACE_MODEL_THREADS_OBSERVE_H
#define GOTRACE_MODEL_THREADS_OBSERVE_H

#include "model/state.h"

/* front_end.observe */
void threads_observe(struct model *md, const struct raw_record *rec);

#endif
