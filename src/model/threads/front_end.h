/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts of the front end of threads (model/front_end.h). */
#ifndef GOTRACE_MODEL_THREADS_FRONT_END_H
#define GOTRACE_MODEL_THREADS_FRONT_END_H

#include "model/state.h"

/* --- start.c: the initial state of threads, and the state after a loss --- */

/* front_end.start, .start_spawned and .resync */
void threads_start(struct model *md, size_t from, size_t to);
void threads_start_spawned(struct model *md, const struct raw_record *first);
void threads_resync(struct model *md);

/* --- observe.c: the kernel's records about threads --- */

/* front_end.observe */
void threads_observe(struct model *md, const struct raw_record *rec);

#endif
