/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module, and pure: merges several rings into one order that keeps causes before effects.
 *
 * A hit reads the clock, then reserves its record in a ring; both happen before the change that it records
 * can be seen elsewhere. So if A caused B, A was reserved before B read the clock, and a record may be placed
 * anywhere between its clock reading and its reservation. Its key is such a place: the latest time of all
 * records up to it in its ring. Records are merged by key, and within a ring in its order. If a record's key
 * has already been passed (its thread was delayed between clock and reservation), it is emitted at once: it
 * was reserved after all records emitted so far had read the clock.
 *
 * A record without a time of its own (a stack) has the key of the record before it. A record that refers to
 * the stack found it in its ring, and read the clock later.
 *
 * A record that is still being written has changed nothing that others could see, but the records behind it
 * in its ring may have. So for each ring the merge keeps the time of the last check that found it complete,
 * and no ring emits records later than the oldest of these times.
 */
#ifndef GOTRACE_CAPTURE_MERGE_H
#define GOTRACE_CAPTURE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/rings.h"

/*
 * ns. The clocks of two CPUs may differ by some ns (the kernel drops a TSC that does not fit, but BPF
 * programs read the clock without its lock), and a store takes a while to become visible. So the last moment
 * before a check is held back: an interval much longer than both, and much shorter than that between drains.
 */
enum { MERGE_GUARD_NS = 100000 };

struct merge_head {
	uint64_t key;
	unsigned source;
};

struct ring_merge {
	unsigned sources;
	/* Everything up to this time has been emitted, except late records. */
	uint64_t passed;
	uint64_t late;                      /* number of records whose time had already been passed */
	uint64_t complete_at[MAX_RINGS];    /* time of the last check that found the source complete */
	uint64_t latest[MAX_RINGS];         /* latest time so far, by source */
	struct merge_head heads[MAX_RINGS]; /* heap of the next records: smallest key first */
	unsigned n;
};

/* Source and destination of the records. */
struct merge_input {
	void *ctx;
	/* Sets *time to the time of the source's next record, or to 0 if the record has none. Returns false
	 * if there is no record. */
	bool (*peek)(void *ctx, unsigned source, uint64_t *time);
	/* Takes the record last peeked. Returns 0, or a negative errno that ends the run. */
	int (*take)(void *ctx, unsigned source);
};

void merge_init(struct ring_merge *merge, unsigned sources, uint64_t now);
/* Called before a run: at `now`, all records reserved in the source were complete. */
void merge_complete_at(struct ring_merge *merge, unsigned source, uint64_t now);
/* Takes all records that are due. Returns 0 or the error of take(). */
int merge_run(struct ring_merge *merge, const struct merge_input *input);

#endif
