/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goroutines and threads wait for, by address: a user log right before the block, if model_options.locks
 * asks for it. Its category is "lock"; docs/analysis.md has the messages.
 */
#ifndef GOTRACE_MODEL_LOCKS_H
#define GOTRACE_MODEL_LOCKS_H

#include "model/state.h"

/* m's goroutine is about to block. arg2: of SITE_PARK. stack: where it waits, an id. */
void lock_note_park(struct model *md, struct m *m, uint64_t arg2, uint32_t stack);
/* The same of a thread; wait: WAIT_* of its system call. */
void lock_note_futex(struct model *md, struct m *m, uint64_t wait);
/* m's goroutine has left, and only its next start shows what it waits for: keeps a place for the log. */
void lock_hold_place(struct model *md, struct m *m);
/* The start has come: fills the place before the block, which is ops[block]. */
void lock_fill_place(struct model *md, size_t block, uint64_t arg2, uint32_t stack);
/* The generation is complete: writes the messages, as the names of functions are known by now. */
void lock_logs_complete(struct model *md);

#endif
