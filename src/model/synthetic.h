/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The synthetic goroutine, shown as "gotrace", makes the transitions that no thread of the target is known to
 * have made, and writes the trace's own log events where no goroutine of the target runs. It has its own
 * thread and borrows an idle P; if none is idle, it runs on a thread of the target that looks for a
 * goroutine. In between it waits: if it were runnable, scheduling profiles would show it.
 */
#ifndef GOTRACE_MODEL_SYNTHETIC_H
#define GOTRACE_MODEL_SYNTHETIC_H

#include "model/state.h"

/* Whether the target leaves it a P, now. */
bool synthetic_has_place(const struct model *md);
/* Starts the goroutine, which runs until synthetic_end(). Returns its thread; NULL when out of memory. */
struct m *synthetic_begin(struct model *md);
void synthetic_end(struct model *md);
/*
 * Returns a thread with a P and no goroutine, for the last steps of another goroutine, until
 * synthetic_return(). Returns NULL when out of memory.
 */
struct m *synthetic_thread(struct model *md);
void synthetic_return(struct model *md);

#endif
