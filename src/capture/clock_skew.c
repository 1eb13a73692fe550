/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/clock_skew.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/clock.h"
#include "util/machine.h"
#include "util/thread.h"

enum { ROUNDS = 64, MOST_CPUS = 64 };
#define PATIENCE_NS 20000000 /* for each CPU, which may be busy */

/* Two threads exchange messages: an odd turn asks, an even one answers. */
struct clock_exchange {
	_Alignas(64) _Atomic uint32_t turn;
	uint64_t theirs; /* time of the answer */
	atomic_bool over;
	cpu_clock clock;
	unsigned cpu; /* of the one that answers */
};

uint64_t clock_of_cpu(unsigned cpu)
{
	(void)cpu;
	return now_ns();
}

static bool move_to(pthread_t thread, unsigned cpu)
{
	cpu_set_t set[CPU_SETS] = {0};

	CPU_SET_S(cpu, sizeof(set), set);
	return pthread_setaffinity_np(thread, sizeof(set), set) == 0;
}

static void *answer(void *ctx)
{
	struct clock_exchange *exchange = ctx;

	for (uint32_t next = 1; !atomic_load(&exchange->over);) {
		if (atomic_load_explicit(&exchange->turn, memory_order_acquire) != next)
			continue;
		exchange->theirs = exchange->clock(exchange->cpu);
		atomic_store_explicit(&exchange->turn, next + 1, memory_order_release);
		next += 2;
	}
	return NULL;
}

/* The shortest exchange so far, ns, and how far the other clock was ahead in its middle. */
struct closest {
	uint64_t length;
	int64_t ahead;
};

/* Returns false if there is no answer until the limit. */
static bool ask(struct clock_exchange *exchange, unsigned first, uint32_t turn, uint64_t limit,
		struct closest *closest)
{
	uint64_t begin = exchange->clock(first), end;

	atomic_store_explicit(&exchange->turn, turn, memory_order_release);
	while (atomic_load_explicit(&exchange->turn, memory_order_acquire) == turn) {
		if (now_ns() > limit)
			return false;
	}
	end = exchange->clock(first);
	if (end - begin < closest->length) {
		closest->length = end - begin;
		closest->ahead = (int64_t)(exchange->theirs - begin) - (int64_t)(end - begin) / 2;
	}
	return true;
}

static void compare(struct clock_skew *skew, unsigned cpu, cpu_clock clock)
{
	struct clock_exchange exchange = {.clock = clock, .cpu = cpu};
	struct closest closest = {.length = UINT64_MAX};
	uint64_t limit = now_ns() + PATIENCE_NS, off, unsure;
	pthread_t thread;
	bool there;

	if (thread_start(&thread, answer, &exchange))
		return;
	there = move_to(thread, cpu);
	for (uint32_t i = 0; there && i < ROUNDS; i++)
		there = ask(&exchange, skew->first, 2 * i + 1, limit, &closest);
	atomic_store(&exchange.over, true);
	/* A CPU that a real-time thread has for good would never let it end. */
	move_to(thread, skew->first);
	pthread_join(thread, NULL);
	if (closest.length == UINT64_MAX)
		return;
	off = (uint64_t)(closest.ahead < 0 ? -closest.ahead : closest.ahead);
	unsure = closest.length / 2;
	skew->cpus++;
	if (off + unsure > skew->within)
		skew->within = off + unsure;
	if (off > unsure && off - unsure > skew->ns) {
		skew->ns = off - unsure;
		skew->cpu = cpu;
	}
}

struct clock_skew clock_skew_measure(cpu_clock clock, uint64_t budget_ns)
{
	uint64_t limit = now_ns() + budget_ns;
	struct clock_skew skew = {0};
	int here = sched_getcpu();
	cpu_set_t allowed[CPU_SETS];

	if (here < 0 || sched_getaffinity(0, sizeof(allowed), allowed) ||
	    !move_to(pthread_self(), (unsigned)here))
		return skew;
	skew.first = (unsigned)here;
	for (unsigned cpu = 0; cpu < MAX_CPUS && skew.cpus < MOST_CPUS && now_ns() < limit; cpu++) {
		if (CPU_ISSET_S(cpu, sizeof(allowed), allowed) && cpu != skew.first)
			compare(&skew, cpu, clock);
	}
	sched_setaffinity(0, sizeof(allowed), allowed);
	return skew;
}
