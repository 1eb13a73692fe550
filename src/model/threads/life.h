/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lives of threads. */
#ifndef GOTRACE_MODEL_THREADS_LIFE_H
#define GOTRACE_MODEL_THREADS_LIFE_H

#include "model/threads/state.h"

/* Returns false when out of memory. */
bool threads_init_tids(struct threads_state *threads);
bool is_tid(uint64_t tid);
/* Returns NULL if the thread is not alive. */
struct thread_life *thread_find(struct model *md, uint64_t tid);
/* Adds a life, with status G_DEAD until the caller changes it. Returns NULL when out of memory. */
struct thread_life *thread_new(struct model *md, uint32_t tid);
/* Finds the thread, or has the synthetic goroutine create it, because its creation was not seen. */
struct thread_life *thread_get(struct model *md, uint64_t tid, bool waiting);
/* Notes that the op just written is the generation's first one about the thread. */
void thread_first_op(struct model *md, struct thread_life *t);

#endif
