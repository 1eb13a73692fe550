/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Drops unused data between generations, to bound memory. To be called when a generation has just been
 * closed.
 */
#ifndef GOTRACE_MODEL_FORGET_H
#define GOTRACE_MODEL_FORGET_H

#include "model/state.h"

/* After LOG_NOTE_RENEW, when the log repeats stacks: drops those unused in this epoch and the one before. */
void forget_stacks(struct model *md);
/* If there are many names of the target, drops those that nothing refers to. */
void forget_names(struct model *md);
/* If there are many threads, drops those idle for long: thread ids recur, and their number is unlimited. */
void forget_threads(struct model *md);

#endif
