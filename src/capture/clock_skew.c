/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/clock_skew.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/clock.h"
#include "util/thread.h"

enum { ROUNDS = 64, MOST_CPUS = 64 };
#define PATIENCE_NS 20000000 /* for each CPU, which may be busy */

/* Two threads exchange messages: an odd turn asks, an even one answers. */
struct clock_exchange {
	_Alignas(64) _Atomic uint32_t turn;
	uint64_t theirs; /* time of the answer */
	atomic_bool over;
	cpu_clock clock;
	unsigned cpu;
};

uint64_t clock_of_cpu(unsigned cpu)
{
	(void)cpu;
	return now_ns();
}

static bool move_to(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

static void *answer(void *ctx)
{
	struct clock_exchange *exchange = ctx;
	bool there = move_to(exchange->cpu);

	for (uint32_t next = 1; there && !atomic_load(&exchange->over);) {
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

	if (thread_start(&thread, answer, &exchange))
		return;
	for (uint32_t i = 0; i < ROUNDS && ask(&exchange, skew->first, 2 * i + 1, limit, &closest); i++) {
	}
	atomic_store(&exchange.over, true);
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
	cpu_set_t allowed;
	bool found = false;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return skew;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && skew.cpus < MOST_CPUS && now_ns() < limit; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		if (found)
			compare(&skew, cpu, clock);
		else if (!move_to(cpu))
			break;
		else
			skew.first = cpu;
		found = true;
	}
	sched_setaffinity(0, sizeof(allowed), &allowed);
	return skew;
}
