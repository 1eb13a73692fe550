/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is forgotten between generations, so that memory stays bounded. A generation has just been closed. */
#ifndef GOTRACE_MODEL_FORGET_H
#define GOTRACE_MODEL_FORGET_H

#include "model/state.h"

/* After LOG_NOTE_RENEW, which means that the log repeats stacks: those that neither this epoch nor the one
 * before has used. */
void forget_stacks(struct model *md);
/* Names of the target's that nothing refers to any more, if they have become many. */
void forget_names(struct model *md);
/* Threads that have been idle for long, if they are many: thread ids recur, and their number has no limit. */
void forget_threads(struct model *md);

#endif
