/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A probe hit, and what its handlers have in common. A handler first brings the state to what the record
 * implies, then takes the step.
 */
#ifndef GOTRACE_MODEL_GO_HIT_H
#define GOTRACE_MODEL_GO_HIT_H

#include "model/state.h"

typedef void (*probe_hit_handler)(struct model *md, const struct probe_hit *hit);

/* Makes the record's goroutine run on the thread that was hit. Returns it, or NULL if that is impossible. */
struct g *force_hit_running(struct model *md, const struct probe_hit *hit);
/*
 * Makes the thread run curg, or scheduler code if curg is 0, when it acts on another goroutine. Returns false
 * if there is no P to run on.
 */
bool force_thread_of_hit(struct model *md, const struct probe_hit *hit, uint64_t curg);
/* Whether the thread's goroutine is in entersyscallblock, which has borrowed a P to start another thread:
 * what happens on that P does not end the call. */
bool is_borrowing(const struct m *m);
/* The runtime acts on behalf of the record's goroutine, or of none. */
void on_behalf(struct model *md, const struct probe_hit *hit);

/* Whether records of this site name a P that changes hands. */
bool names_a_p(uint8_t site);
/* Whether the thread takes a P for itself or drops its own, rather than taking one from another thread. */
bool moves_own_p(uint8_t site);

/* --- sched.c: goroutines: created, blocked, made runnable, started, ended --- */

void on_park(struct model *md, const struct probe_hit *hit);
void on_preemptpark(struct model *md, const struct probe_hit *hit);
void on_gosched(struct model *md, const struct probe_hit *hit);
void on_unblock(struct model *md, const struct probe_hit *hit);
void on_execute(struct model *md, const struct probe_hit *hit);
void on_destroy(struct model *md, const struct probe_hit *hit);
void on_newproc(struct model *md, const struct probe_hit *hit);
void on_coro(struct model *md, const struct probe_hit *hit);

/* --- procs.c: Ps that change hands --- */

void on_acquirep(struct model *md, const struct probe_hit *hit);
void on_releasep(struct model *md, const struct probe_hit *hit);
void on_take(struct model *md, const struct probe_hit *hit);
void on_procresize(struct model *md, const struct probe_hit *hit);

/* --- syscalls.c: system calls and cgo calls --- */

void on_sys_enter(struct model *md, const struct probe_hit *hit);
void on_call_enter(struct model *md, const struct probe_hit *hit);
void on_syscall_exit(struct model *md, const struct probe_hit *hit);
void on_exit_no_p(struct model *md, const struct probe_hit *hit);
void on_needm(struct model *md, const struct probe_hit *hit);
void on_dropm(struct model *md, const struct probe_hit *hit);
void on_gcwait(struct model *md, const struct probe_hit *hit);

/* --- gc.c: stop-the-world, cycles of the garbage collector, sweeping, mark assists, the size of the heap ---
 */

void on_stw_begin(struct model *md, const struct probe_hit *hit);
void on_stw_end(struct model *md, const struct probe_hit *hit);
void on_gc_begin(struct model *md, const struct probe_hit *hit);
void on_gc_end(struct model *md, const struct probe_hit *hit);
void on_heap_alloc(struct model *md, const struct probe_hit *hit);
void on_heap_goal(struct model *md, const struct probe_hit *hit);
void on_sweep_begin(struct model *md, const struct probe_hit *hit);
void on_sweep_end(struct model *md, const struct probe_hit *hit);
void on_assist_begin(struct model *md, const struct probe_hit *hit);
void on_assist_end(struct model *md, const struct probe_hit *hit);
/*
 * Whether assists may begin repeatedly, and end without a begin: up to Go 1.21 gcAssistAlloc remembers in a
 * local variable whether it has traced the begin.
 */
bool repeats_assists(const struct model *md);

#endif
