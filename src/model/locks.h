/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goroutines and threads wait for, by address: a user log directly before the block, if
 * model_options.locks is set. Its category is "lock"; docs/analysis.md describes the messages.
 */
#ifndef GOTRACE_MODEL_LOCKS_H
#define GOTRACE_MODEL_LOCKS_H

#include "model/state.h"

/* m's goroutine is about to block. arg2: of SITE_PARK; stack: id of the stack where it waits. */
void lock_note_park(struct model *md, struct m *m, uint64_t arg2, uint32_t stack);
/* The same for a thread. wait: WAIT_* of its system call. */
void lock_note_futex(struct model *md, struct m *m, uint64_t wait);
/* m's goroutine has left, and only its next start shows what it waits for: reserves a place for the log. */
void lock_reserve_op(struct model *md, struct m *m);
/* At that start: fills the place before the block, which is ops[block]. */
void lock_fill_reserved(struct model *md, size_t block, uint64_t arg2, uint32_t stack);
/* Writes the messages once the generation is complete: function names are known by now. */
void lock_logs_complete(struct model *md);

#endif
