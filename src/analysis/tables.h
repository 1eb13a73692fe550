/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a report counts, besides the activities of goroutines: step.c fills it in, op by op. */
#ifndef GOTRACE_ANALYSIS_TABLES_H
#define GOTRACE_ANALYSIS_TABLES_H

#include "analysis/state.h"

/* --- groups.c: goroutines with the same function and creator --- */

void group_from_stack(struct analysis *a, struct goroutine *g, uint32_t stack);
void group_born(struct analysis *a, struct goroutine *g, uint32_t entry, uint32_t creator, bool before);
void group_ended(struct analysis *a, struct goroutine *g);
void groups_end(struct analysis *a);

/* --- procs.c: what the Ps are used for, over time --- */

void integrate(struct analysis *a, uint64_t now);
void proc_use(struct analysis *a, int32_t p, enum p_use use);
struct proc *proc_at(struct analysis *a, int32_t p);

/* --- gc.c: cycles of the garbage collector, and stop-the-worlds --- */

void gc_step(struct analysis *a, const struct op *op);
void gc_proc_stopped(struct analysis *a, int32_t p);
void gc_gap(struct analysis *a, bool begins);
void gc_end(struct analysis *a);

/* --- labels.c: pprof labels of goroutines, from the logs that gotrace writes --- */

struct labels_read;
void labels_log(struct analysis *a, const struct op *op); /* handles a log event, which may be about labels */
/* Ends the labels of g. cut: the trace ends, and the last interval of g is already counted. */
void labels_end(struct analysis *a, struct goroutine *g, bool cut);
/* Another set of labels in a gap was not seen: the open periods count as cut. */
void labels_cut(struct goroutine *g);
void labels_drop(struct goroutine *g);

/* --- locks.c: locks by address, from the logs of --locks --- */

/* Handles a log event of g, which may announce the lock that g is about to wait for. */
void lock_log(struct analysis *a, struct goroutine *g, const char *category, const char *message);
void lock_wait(struct analysis *a, struct goroutine *g);
/* Call before the wait of g ends. */
void lock_wake(struct analysis *a, struct goroutine *g, const struct goroutine *waker, uint32_t stack);
void lock_leave(struct analysis *a, struct goroutine *g);
/* A gap ends, in which no goroutine was known to wait. */
void locks_resume(struct analysis *a);
void locks_end(struct analysis *a);
bool lock_is_held(const struct lock *lock); /* true if its form has a holder */

/* --- resources.c: locks and channels, inferred from wake-ups: which goroutine wakes which --- */

struct resource *resource_root(struct analysis *a, uint32_t index);
/* Returns for how long so many or more have waited, ns. */
uint64_t resource_crowded_ns(const struct resource *res, unsigned least);
/* Returns how long all but so many at a time have waited, ns: those who have nobody that serves them. */
uint64_t resource_queued_ns(const struct resource *res, uint64_t servers);
void resource_got(struct analysis *a, struct goroutine *g); /* g runs again */
/* g is not watched from here on: whether it waits for a resource or holds one is not known. */
void resource_leave(struct analysis *a, struct goroutine *g);
/* A gap ends, in which no goroutine was known to wait. */
void resources_resume(struct analysis *a);
void resources_end(struct analysis *a);
void resource_wait(struct analysis *a, struct goroutine *g);
/* Before the goroutine waits, for whatever: notes whether the items that it has got can still be its own. */
void resource_note_use(struct analysis *a, struct goroutine *g);
void resource_wake(struct analysis *a, struct goroutine *g, struct goroutine *waker, uint32_t waker_stack);

/* --- goroutines --- */

static inline uint32_t goroutine_index(const struct analysis *a, const struct goroutine *g)
{
	return (uint32_t)(g - a->gs);
}

/* Returns NULL if the creator is unknown, or has ended and its index is reused. */
static inline struct goroutine *goroutine_creator(struct analysis *a, const struct goroutine *g)
{
	struct goroutine *creator = g->creator ? &a->gs[g->creator] : NULL;

	return creator && creator->goid == g->creator_goid ? creator : NULL;
}

#endif
