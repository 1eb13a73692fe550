/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/lease.h"

#include <time.h>

#include "capture/probe_set.h"

/* The coarse clocks advance by ticks (kernel/time/posix-timers.c, KTIME_LOW_RES). */
static uint64_t length_of_tick(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec < 100000)
		return 4000000;
	return (uint64_t)tick.tv_nsec;
}

void lease_init(struct lease_holder *holder, volatile struct lease *lease)
{
	holder->lease = lease;
	holder->tick_ns = length_of_tick();
	holder->ticks = LEASE_MS * 1000000ull / holder->tick_ns + 1;
}

void lease_open(const struct lease_holder *holder)
{
	if (holder->lease)
		own_renew(holder->ticks | LEASE_OPEN);
}

bool lease_renew(const struct lease_holder *holder)
{
	uint64_t before;

	if (!holder->lease)
		return true;
	before = holder->lease->renewed_ns;
	own_renew(holder->ticks);
	return holder->lease->renewed_ns != before;
}

void lease_close(const struct lease_holder *holder)
{
	if (holder->lease)
		holder->lease->until = 0;
}

uint64_t lease_full_since(const struct lease_holder *holder)
{
	return holder->lease ? holder->lease->closed_ns : 0;
}

uint64_t lease_plugin_since(const struct lease_holder *holder)
{
	return holder->lease ? holder->lease->plugin_ns : 0;
}

uint64_t lease_plugins(const struct lease_holder *holder)
{
	return holder->lease ? holder->lease->plugins : 0;
}

uint64_t lease_end(const struct lease_holder *holder)
{
	return holder->lease ? holder->lease->renewed_ns + (holder->ticks - 1) * holder->tick_ns : 0;
}
