/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a flight recorder's tape (tape.h) tells the process that serves it, in memory that both have: what is
 * kept, and what has fired. The reader believes nothing of it.
 */
#ifndef GOTRACE_FLIGHT_BOARD_H
#define GOTRACE_FLIGHT_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "flight/keeper.h"

enum { BOARD_NEWS = 16 };

struct news {
	char text[1000]; /* what fired, for people */
	uint64_t time;   /* its moment, ns */
};

struct board {
	_Atomic uint64_t bytes, start_ns, closed, dropped_soon; /* of struct keeper_stats */
	_Atomic uint32_t told, taken;                           /* news, ever: told - taken are there */
	struct news news[BOARD_NEWS];                           /* by number, around the end */
};

/* --- the tape --- */

void board_show(struct board *board, const struct keeper_stats *stats);
/* What does not fit is dropped: those before are still untold, and the trace has all. */
void board_tell(struct board *board, const struct news *news);

/* --- the reader, of any process --- */

/* bytes, start_ns (at most `now`), closed and dropped_soon; the rest is 0. */
struct keeper_stats board_stats(const struct board *board, uint64_t now);
/*
 * The oldest of the news, printable and of no time later than now, once; false if there is none. *taken: how
 * many were taken before.
 */
bool board_take(struct board *board, uint32_t *taken, uint64_t now, struct news *news);

#endif
