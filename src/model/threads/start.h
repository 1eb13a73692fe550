/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The initial state of threads, and the state after a loss. */
#ifndef GOTRACE_MODEL_THREADS_START_H
#define GOTRACE_MODEL_THREADS_START_H

#include "model/state.h"

/* front_end.start, .start_spawned and .resync */
void threads_start(struct model *md, size_t from, size_t to);
void threads_start_spawned(struct model *md, const struct raw_record *first);
void threads_resync(struct model *md);

#endif
