/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Locks by address, in traces that record which lock a wait is for (gotrace --locks: a log of category "lock"
 * right before the block). The goroutine that ends a wait released the lock, so it held it. Where it took the
 * lock is known only if it had waited for it, and was the last one woken for it. As in resources.c, the time
 * of all waiters is charged to the next release.
 */
#include "analysis/tables.h"

#include <string.h>

#include "analysis/figures.h"
#include "analysis/names.h"
#include "analysis/top.h"
#include "util/array.h"
#include "trace/ops/own_logs.h"

enum { MAX_LOCKS = 8192, ONE_UNLOCK_NS = 50000 };

/* The waker of a lock's waiter held the lock. The sender on a channel did not. */
bool lock_is_held(const struct lock *lock)
{
	return lock->form <= FORM_FUTEX;
}

struct label label_lock(const struct lock *lock)
{
	struct label label;

	snprintf(label.text, sizeof(label.text), "%s 0x%llx", lock_form_name(lock->form),
		 (unsigned long long)lock->address);
	return label;
}

/* --- which one --- */

static uint32_t locks_find(struct analysis *a, const struct lock *wanted)
{
	uint64_t key = wanted->address ^ (uint64_t)(wanted->form + 1) << 56;
	const uint32_t *known = map64_get(&a->lock_of, key);

	if (known)
		return *known;
	if (a->nlocks >= MAX_LOCKS) {
		a->locks_left_out++;
		return 0;
	}
	if (array_grow(&a->locks, &a->lock_capacity, a->nlocks + 1, sizeof(*a->locks)) ||
	    map64_set(&a->lock_of, key, (uint32_t)a->nlocks)) {
		a->oom = true;
		return 0;
	}
	a->locks[a->nlocks] = *wanted;
	return (uint32_t)a->nlocks++;
}

void lock_log(struct analysis *a, struct goroutine *g, const char *category, const char *message)
{
	struct lock_log log;

	if (!lock_log_parse(category, message, &log))
		return;
	g->lock_logged = locks_find(a, &(struct lock){.address = log.address, .form = (uint8_t)log.form});
	g->lock_reads = log.reads;
}

/* --- who may hold it --- */

/* Forgets that the goroutine was woken for the lock. Returns the stack of that wait; 0 = unknown. */
static uint32_t taker_forget(struct lock *lock, uint64_t goid)
{
	uint32_t stack = 0;

	for (unsigned i = 0; i < WOKEN; i++) {
		if (lock->woken[i].goid != goid)
			continue;
		stack = lock->woken[i].stack;
		lock->woken[i] = (struct lock_taker){0};
	}
	if (lock->last.goid == goid)
		lock->last = (struct lock_taker){0};
	return stack;
}

/* Several readers may hold an RWMutex, and a writer may have been woken that must still wait for them. */
static void taker_add(struct lock *lock, uint64_t goid, uint32_t stack)
{
	unsigned free = 0;

	for (unsigned i = 0; lock->form == FORM_RWMUTEX && i < WOKEN; i++) {
		if (!lock->woken[i].goid)
			free = i;
	}
	lock->woken[free] = (struct lock_taker){goid, stack};
}

/*
 * Returns the stack where the releasing goroutine took the lock; 0 = unknown. One Unlock of an RWMutex wakes
 * all readers, and then a writer.
 */
static uint32_t taken_by(const struct analysis *a, struct lock *lock, uint64_t goid)
{
	struct lock_taker last = lock->last;

	if (lock->form == FORM_RWMUTEX && last.goid == goid && a->now - lock->released_at < ONE_UNLOCK_NS)
		return last.stack;
	return taker_forget(lock, goid);
}

/* --- waits --- */

static void locks_pass_time(struct analysis *a, struct lock *lock)
{
	uint64_t ns = lock->waiting ? a->now - lock->changed : 0;

	lock->open_ns += ns * lock->waiting;
	lock->contended_ns += ns;
	lock->changed = a->now;
}

/* glibc's name, with or without underscores, or that of a stripped library's caller. */
static bool waits_in_glibc(const struct analysis *a, uint32_t stack)
{
	return stack_mentions(a, stack, "pthread_cond_");
}

/*
 * Returns the condition that the futex is part of, or the futex itself. Threads wait for one of two words of
 * a condition in turn: __g_signals at bytes 40 and 44 of pthread_cond_t, which is aligned to 8 (glibc 2.25
 * to 2.40, sysdeps/nptl/bits/thread-shared-types.h).
 */
static uint32_t condition_of(struct analysis *a, const struct goroutine *g, uint32_t futex)
{
	const struct lock *lock = &a->locks[futex];
	uint64_t word = lock->address;

	if (lock->form != FORM_FUTEX || g->activity != ACT_COND || !waits_in_glibc(a, g->stack))
		return futex;
	return locks_find(a, &(struct lock){.address = word - (word & 4 ? 44 : 40), .form = FORM_COND});
}

void lock_wait(struct analysis *a, struct goroutine *g)
{
	struct lock *lock;

	g->lock = g->lock_logged ? condition_of(a, g, g->lock_logged) : 0;
	g->lock_logged = 0;
	if (!g->lock)
		return;
	lock = &a->locks[g->lock];
	/* A thread waits for a condition, or for others, at a futex, too. Who signals it did not hold it. */
	if (lock->form == FORM_FUTEX && g->activity == ACT_COND)
		lock->form = FORM_COND;
	else if (lock->form == FORM_FUTEX && g->activity == ACT_SEMAPHORE)
		lock->form = FORM_POSTED;
	else if (lock->form == FORM_FUTEX && g->activity == ACT_JOIN)
		lock->form = FORM_AWAITED;
	locks_pass_time(a, lock);
	if (!lock->waiting++)
		lock->contended_since = a->now;
	if (lock->waiting > lock->most_waiting)
		lock->most_waiting = lock->waiting;
	/* It no longer holds the lock: another goroutine was faster, or it has released the lock since. */
	taker_forget(lock, g->goid);
}

static void locks_count_wait(struct analysis *a, struct lock *lock, const struct goroutine *g,
			     const struct goroutine *waker)
{
	uint64_t ns = a->now - g->since;

	if (histogram_add(&lock->waits, ns))
		a->oom = true;
	if (ns >= lock->waits.max) {
		lock->max_at = g->since;
		lock->max_g = g->goid;
		lock->max_waker = waker ? waker->goid : 0;
	}
	if (g->lock_reads) {
		lock->readers++;
		lock->readers_ns += ns;
	}
	top_add(lock->waited, g->stack, ns);
}

static void locks_charge(struct analysis *a, struct lock *lock, struct goroutine *g,
			 const struct goroutine *waker, uint32_t stack)
{
	uint32_t taken = taken_by(a, lock, waker->goid);

	lock->releases++;
	lock->charged_ns += lock->open_ns;
	top_add(lock->holders, waker->goid, lock->open_ns);
	top_add(lock->released, stack, lock->open_ns);
	lock->last = (struct lock_taker){waker->goid, taken};
	lock->released_at = a->now;
	g->lock_taken = taken;
	if (!taken)
		return;
	lock->known++;
	lock->known_ns += lock->open_ns;
	top_add(lock->taken, taken, lock->open_ns);
}

void lock_wake(struct analysis *a, struct goroutine *g, const struct goroutine *waker, uint32_t stack)
{
	struct lock *lock = &a->locks[g->lock];

	g->lock_taken = 0;
	if (!g->lock)
		return;
	locks_pass_time(a, lock);
	if (!g->cut)
		locks_count_wait(a, lock, g, waker);
	if (waker && lock_is_held(lock))
		locks_charge(a, lock, g, waker, stack);
	else if (waker)
		top_add(lock->released, stack, a->now - g->since);
	lock->open_ns = 0;
	lock->contended_since = a->now;
	taker_add(lock, g->goid, g->stack);
}

void lock_leave(struct analysis *a, struct goroutine *g)
{
	struct lock *lock = &a->locks[g->lock];

	if (!g->lock)
		return;
	locks_pass_time(a, lock);
	if (lock->waiting)
		lock->waiting--;
	g->lock = 0;
}

/* Who took or released a lock in a gap was not seen. */
void locks_resume(struct analysis *a)
{
	for (size_t i = 1; i < a->nlocks; i++) {
		struct lock *lock = &a->locks[i];

		memset(lock->woken, 0, sizeof(lock->woken));
		lock->last = (struct lock_taker){0};
		lock->open_ns = 0;
		lock->contended_since = a->now;
	}
}

void locks_end(struct analysis *a)
{
	for (size_t i = 1; i < a->nlocks; i++)
		locks_pass_time(a, &a->locks[i]);
}
