/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/rest.h"

#include "capture/rings.h"

#define MS 1000000ull

enum {
	HELD_MS = 1, /* minimum, while the rings cannot be drained */
	/*
	 * A round wakes two processes. With 40,000 records a second, rounds every 50 ms take half of the CPU
	 * time of rounds every 10 ms, and with 53,000 rounds as long as ROUND_NS allows a quarter less than
	 * those (on two CPUs, Linux 6.18).
	 */
	MIN_BUSY_MS = 10,
};

/* The CPU time that a round should take at most: it has priority over the target. */
#define ROUND_NS 500000ull

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the time until a ring is as full as it may be, at most idle_ns. */
static uint64_t time_left(const struct rest_input *input)
{
	double space = RING_FILL_TO_DRAIN - input->fill;

	if (space <= 0)
		return 0;
	return space * 1e9 < input->rate * (double)input->idle_ns ? (uint64_t)(space * 1e9 / input->rate)
								  : input->idle_ns;
}

/* Returns the time in which as much arrives as a round should read. */
static uint64_t busy_rest_ns(const struct rest_input *input)
{
	double rest = (double)input->busy_ns;

	if (input->cpu_ns)
		rest = (double)input->arrival_ns * ROUND_NS / (double)input->cpu_ns;
	if (rest > (double)input->busy_ns)
		rest = (double)input->busy_ns;
	return rest < MIN_BUSY_MS * MS || input->is_often ? MIN_BUSY_MS * MS : (uint64_t)rest;
}

uint64_t rest_ns(const struct rest_input *input)
{
	uint64_t rest = input->busy ? smaller(busy_rest_ns(input), input->idle_ns) : input->idle_ns;

	if (rest < input->cpu_ns)
		rest = input->cpu_ns;
	rest = smaller(rest, time_left(input));
	return input->held && rest < HELD_MS * MS ? HELD_MS * MS : rest;
}
