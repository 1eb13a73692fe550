/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Traced function calls, as regions and tasks of threads. */
#ifndef GOTRACE_MODEL_THREADS_FUNCTIONS_H
#define GOTRACE_MODEL_THREADS_FUNCTIONS_H

#include "model/threads_state.h"

/* The thread must be running. */
void function_begin(struct model *md, struct thread_life *t, const struct raw_record *rec);
void function_end(struct model *md, struct thread_life *t, const struct raw_record *rec);
/* Ends all open calls: the thread will not return into any of them. */
void thread_end_functions(struct model *md, struct thread_life *t);

#endif
