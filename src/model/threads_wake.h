/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Being woken; a waking may come before its thread has left its CPU. */
#ifndef GOTRACE_MODEL_THREADS_WAKE_H
#define GOTRACE_MODEL_THREADS_WAKE_H

#include "model/threads_state.h"

/* g, which waits, becomes runnable. */
void thread_unblock(struct model *md, struct g *g, const struct early_waking *waking);
/*
 * A runnable thread is not woken. If this one is woken now, the unblock written for a waking before it left
 * its CPU was wrong: that waking only kept it on its CPU.
 */
void thread_take_back_unblock(struct model *md, struct thread_life *t);
/* The same if that unblock is long ago, and the thread has not been seen since. */
void thread_doubt_waking(struct model *md, struct thread_life *t);
/* A snapshot shows that it waits; it may have been woken since. */
void thread_fell_asleep_unseen(struct model *md, struct thread_life *t);

#endif
