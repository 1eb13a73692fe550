/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room, and pure: one order out of several rings that keeps
 * causes before effects.
 *
 * A hit reads the clock, then its record is reserved in a ring, and both
 * before the change it tells can be seen elsewhere. So if A caused B, A was
 * reserved before B read the clock, and any place of a record between its
 * clock reading and its reservation is a right one. Its key is such a place:
 * the latest time of all records up to it in its ring. Records leave by their
 * keys, and within a ring in its order. One whose key has been passed already
 * (its thread was put off between clock and reservation) leaves at once: it
 * was reserved later than all that left before had read the clock.
 *
 * What has no time of its own (a stack) has the key of the record before it:
 * whoever refers to it saw it in its ring, and read the clock later.
 *
 * A record that is still being written has changed nothing that others could
 * see, but those behind it in its ring may have: all rings wait with what is
 * later than the last look at which that ring could be read to its end.
 */
#ifndef GOTRACE_CAPTURE_MERGE_H
#define GOTRACE_CAPTURE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/rings.h"

/*
 * ns. Clocks of two CPUs may differ by some ns (the kernel drops a TSC that
 * does not fit, but BPF programs read the clock without its lock), and a store
 * takes a while to be seen: the last moment before a look stays. Much longer
 * than both, much shorter than the pace of draining.
 */
enum { MERGE_GUARD_NS = 100000 };

struct merge_head {
	uint64_t key;
	unsigned source;
};

struct merge {
	unsigned sources;
	uint64_t passed;                    /* all up to this time has left, but for late ones */
	uint64_t late;                      /* records whose time had been passed already */
	uint64_t whole[MAX_RINGS];          /* last look at which the source could be read to its end */
	uint64_t latest[MAX_RINGS];         /* latest time so far, by source */
	struct merge_head heads[MAX_RINGS]; /* a heap of what comes next: smallest key first */
	unsigned n;
};

/* Where the records come from and go to. */
struct merge_input {
	void *ctx;
	/* Tells the time of the source's next record, 0 if it has none; false if there is no record. */
	bool (*peek)(void *ctx, unsigned source, uint64_t *time);
	/* Takes the record that was peeked last. 0, or a negative errno that ends the run. */
	int (*take)(void *ctx, unsigned source);
};

void merge_init(struct merge *merge, unsigned sources, uint64_t now);
/* Before a run: at `now`, all that had been reserved in the source could be peeked. */
void merge_whole(struct merge *merge, unsigned source, uint64_t now);
/* Takes all records whose turn it is. Returns 0 or what take returned. */
int merge_run(struct merge *merge, const struct merge_input *input);

#endif
