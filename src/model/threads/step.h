/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Puts threads on CPUs and takes them off. If records are missing, brings the state to what the current
 * record implies, with the fewest ops (as in repair.h).
 */
#ifndef GOTRACE_MODEL_THREADS_STEP_H
#define GOTRACE_MODEL_THREADS_STEP_H

#include "model/threads/state.h"

/* Returns NULL if the number is out of range, or when out of memory. */
struct p *cpu_get(struct model *md, uint64_t cpu);
/* Makes none of the target's threads run on p. */
void cpu_clear(struct model *md, struct p *p);
void thread_off_cpu(struct model *md, struct thread_life *t);
void thread_make_runnable(struct model *md, struct thread_life *t);
/* Makes the thread run on p, in its own code or in the kernel. */
bool thread_on_cpu(struct model *md, struct thread_life *t, struct p *p);
/* The same, from this time on (ns) if nothing in the trace contradicts that, at the latest from now on. */
bool thread_on_cpu_since(struct model *md, struct thread_life *t, struct p *p, uint64_t since);
void thread_enter_cpu(struct model *md, struct thread_life *t, struct p *p);
/* Ends the system call that the trace shows, if any. */
void thread_end_call(struct model *md, struct thread_life *t);
/* Writes the rest of a call, or drops it as too short (write = false). */
void thread_settle_resume(struct model *md, struct thread_life *t, bool write);
void thread_resume_call(struct model *md, struct thread_life *t);
/* Ends the thread's life and frees t. */
void thread_die(struct model *md, struct thread_life *t);
/* front_end.set_calls */
void threads_set_calls(struct model *md, bool recorded);

#endif
