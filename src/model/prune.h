/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Drops unused data between generations, to bound memory. To be called when a generation has just been
 * closed.
 */
#ifndef GOTRACE_MODEL_PRUNE_H
#define GOTRACE_MODEL_PRUNE_H

#include "model/state.h"

/* After LOG_NOTE_RENEW, when the log repeats stacks: drops those unused in this epoch and the one before. */
void prune_stacks(struct model *md);
/* If there are many names of the target, drops those that nothing refers to. */
void prune_names(struct model *md);
/* If there are many threads, drops those idle for long: thread ids recur, and their number is unlimited. */
void prune_threads(struct model *md);

#endif
