/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * On and off CPUs. If records are missing, the state is made what the record in hand implies, with the fewest
 * ops (as in repair.h).
 */
#ifndef GOTRACE_MODEL_THREADS_STEP_H
#define GOTRACE_MODEL_THREADS_STEP_H

#include "model/threads_state.h"

/* NULL if there can be none of that number. */
struct p *cpu_get(struct model *md, uint64_t cpu);
/* None of the target's threads runs there. */
void cpu_clear(struct model *md, struct p *p);
void thread_off_cpu(struct model *md, struct thread_life *t);
void thread_make_runnable(struct model *md, struct thread_life *t);
/* The thread runs there, in its own code or in the kernel. */
bool thread_on_cpu(struct model *md, struct thread_life *t, struct p *p);
void thread_enter_cpu(struct model *md, struct thread_life *t, struct p *p);
/* It is in no system call that the trace knows as begun. */
void thread_end_call(struct model *md, struct thread_life *t);
/* The rest of a call is written, or was too short to be. */
void thread_settle_resume(struct model *md, struct thread_life *t, bool write);
void thread_resume_call(struct model *md, struct thread_life *t);
/* Its life is over; t is freed. */
void thread_die(struct model *md, struct thread_life *t);
/* front_end.lose_calls */
void threads_lose_calls(struct model *md);

#endif
