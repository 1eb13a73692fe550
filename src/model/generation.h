/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Generations: self-contained parts of the file, about a second each. Each begins with the status of every
 * live object, as the previous one left it.
 */
#ifndef GOTRACE_MODEL_GENERATION_H
#define GOTRACE_MODEL_GENERATION_H

#include "model/state.h"

void generation_open(struct model *md);
/* Completes the open generation, if there is one, and hands it to the sink. */
void generation_close(struct model *md, bool last);
/*
 * Closes the open generation and opens the next; if the world is stopped, postpones this once. ms: the Ms as
 * read at the boundary.
 */
void generation_boundary(struct model *md, const struct log_boundary *boundary, const struct log_m *ms);

/* --- prune.c --- */

/*
 * Drops unused data between generations, to bound memory. To be called when a generation has just been
 * closed.
 */

/* After LOG_NOTE_RENEW, when the log repeats stacks: drops those unused in this epoch and the one before. */
void prune_stacks(struct model *md);
/* If there are many names of the target, drops those that nothing refers to. */
void prune_names(struct model *md);
/* If there are many threads, drops those idle for long: thread ids recur, and their number is unlimited. */
void prune_threads(struct model *md);

#endif
