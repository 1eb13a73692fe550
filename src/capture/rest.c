/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/rest.h"

#define MS 1000000ull

enum {
	BUSY_MS = 10, /* interval between rounds; 16 MiB hold 220,000 records */
	HELD_MS = 1,  /* minimum, while the rings cannot be drained */
};

/* The next round begins before a ring is fuller than this: the rest is for rounds that begin late, and for
 * records that come faster than before. */
#define FILL_TO_GO_ON 0.25

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the time until a ring is as full as it may be, at most idle_ns. */
static uint64_t time_left(const struct rest_input *input)
{
	double space = FILL_TO_GO_ON - input->fill;

	if (space <= 0)
		return 0;
	return space * 1e9 < input->rate * (double)input->idle_ns ? (uint64_t)(space * 1e9 / input->rate)
								  : input->idle_ns;
}

uint64_t rest_ns(const struct rest_input *input)
{
	uint64_t rest = input->busy ? BUSY_MS * MS : input->idle_ns;

	if (rest < input->cpu_ns)
		rest = input->cpu_ns;
	rest = smaller(rest, time_left(input));
	return input->held && rest < HELD_MS * MS ? HELD_MS * MS : rest;
}
