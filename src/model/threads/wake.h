/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Wakings, which may come before their thread has left its CPU. */
#ifndef GOTRACE_MODEL_THREADS_WAKE_H
#define GOTRACE_MODEL_THREADS_WAKE_H

#include "model/threads/state.h"

/* Makes g, which waits, runnable. */
void thread_unblock(struct model *md, struct g *g, const struct early_waking *waking);
/*
 * Takes back the unblock written for an early waking, because the thread is woken now and a runnable thread
 * is not woken: that waking only kept the thread on its CPU.
 */
void thread_take_back_unblock(struct model *md, struct thread_life *t);
/* The same if that unblock is long ago, and the thread has not been seen since. */
void thread_expire_early_unblock(struct model *md, struct thread_life *t);
/* A snapshot shows that the thread waits; it may have been woken since. */
void thread_fell_asleep_unseen(struct model *md, struct thread_life *t);

#endif
