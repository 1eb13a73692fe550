/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/cut/wall_clock.h"

/* 1990. What a file without a wall clock has is less: its own clock (trace/convert/builder.c). */
#define FIRST_SEC 631152000u
#define MAX_SEC   (UINT64_MAX / 1000000000 - 1)

void wall_moment_take(struct wall_moment *moment, const struct generation *gen)
{
	uint64_t wall = gen->wall_sec * 1000000000 + gen->wall_nsec, before;

	if (gen->wall_sec < FIRST_SEC || gen->wall_sec > MAX_SEC)
		return;
	if (wall <= moment->wall_ns) {
		moment->trace_ns = gen->mono_ns + (moment->wall_ns - wall);
		moment->is_known = true;
	} else if (!moment->is_known) {
		before = wall - moment->wall_ns;
		moment->trace_ns = before < gen->mono_ns ? gen->mono_ns - before : 0;
		moment->is_known = true;
	}
}
