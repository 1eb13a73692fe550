/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lives of threads. */
#ifndef GOTRACE_MODEL_THREADS_LIFE_H
#define GOTRACE_MODEL_THREADS_LIFE_H

#include "model/threads_state.h"

/* False when out of memory. */
bool threads_init_tids(struct threads_state *threads);
bool is_tid(uint64_t tid);
/* NULL if it does not live. */
struct thread_life *thread_find(struct model *md, uint64_t tid);
/* A new life; status G_DEAD until the caller says otherwise. NULL when out of memory. */
struct thread_life *thread_new(struct model *md, uint32_t tid);
/* Finds it, or has the synthetic goroutine create it: where it came from was not seen. */
struct thread_life *thread_get(struct model *md, uint64_t tid, bool waiting);
/* The op just written is the first that the generation has of the thread. */
void thread_first_op(struct model *md, struct thread_life *t);

#endif
