/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The status of a flight recorder (recorder_pipeline.h), in memory shared with the privileged process:
 * statistics of the ring, and matches of triggers. The reader does not trust it.
 */
#ifndef GOTRACE_FLIGHT_STATUS_PAGE_H
#define GOTRACE_FLIGHT_STATUS_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "flight/generation_ring.h"

enum { STATUS_PAGE_NOTICES = 16 };

struct match_notice {
	char text[1000];  /* readable description of the match */
	uint64_t time;    /* time of the match, ns */
	uint32_t trigger; /* number of the trigger in the plan */
};

struct status_page {
	_Atomic uint64_t bytes, start_ns, closed, dropped_in_window; /* as in struct generation_ring_stats */
	/* Number of notices added and taken so far; the difference is pending. */
	_Atomic uint32_t added, taken;
	struct match_notice notices[STATUS_PAGE_NOTICES]; /* a ring buffer, indexed by number */
};

/* --- the recorder pipeline's side --- */

void status_page_update(struct status_page *page, const struct generation_ring_stats *stats);
/* Drops the notice if the page is full; the trace contains all matches. */
void status_page_add(struct status_page *page, const struct match_notice *notice);

/* --- the reader's side, in any process --- */

/* Returns bytes, start_ns (at most `now`), closed and dropped_in_window. Other fields are 0. */
struct generation_ring_stats status_page_stats(const struct status_page *page, uint64_t now);
/*
 * Takes the oldest notice; makes its text printable and limits its time to now (ns). Returns false if there
 * is none. Drops notices of triggers that do not exist: their number is ntriggers. *taken counts the notices
 * taken so far.
 */
bool status_page_take(struct status_page *page, unsigned ntriggers, uint32_t *taken, uint64_t now,
		      struct match_notice *notice);

#endif
