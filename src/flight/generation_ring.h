/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A ring buffer of the last encoded generations of a trace, limited by a time window and a size. Each
 * generation is independent of the others, so the file's header and any sequence of them form a trace. A
 * snapshot holds references to generations until it is freed. Another thread may read and free it.
 */
#ifndef GOTRACE_FLIGHT_GENERATION_RING_H
#define GOTRACE_FLIGHT_GENERATION_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/share.h"
#include "trace/wire/wire.h"

struct generation_ring;

struct generation_ring_options {
	uint64_t window_ns;        /* minimum time kept before the start of the newest generation */
	size_t max_bytes;          /* of a snapshot, regardless of the window */
	const flight_share *share; /* how many keep max_bytes together; NULL = one */
};

struct generation_ring_stats {
	size_t bytes;               /* size of a snapshot if taken now */
	size_t generations;         /* number of generations in it */
	uint64_t start_ns;          /* start of the oldest one; 0 if there is none */
	uint64_t newest_ns;         /* start of the newest one */
	uint64_t closed;            /* number of generations stored so far */
	uint64_t dropped_in_window; /* number of them dropped although within the window */
	size_t too_large;           /* size of the newest in bytes if it alone exceeds max_bytes; else 0 */
};

/* Returns NULL if out of memory. */
struct generation_ring *generation_ring_new(const struct generation_ring_options *options);
void generation_ring_free(struct generation_ring *ring);

/* A byte_sink: collects the encoder's output. Returns 0 or -ENOMEM. */
int generation_ring_write(void *ring, const void *bytes, size_t n);
/* Makes the bytes collected so far the header of each snapshot. Returns 0, or -EINVAL if it is too long. */
int generation_ring_header(struct generation_ring *ring);
/*
 * Stores the bytes collected since the last call as a generation that starts at start_ns. Drops old
 * generations beyond the limits. Returns 0 or -ENOMEM.
 */
int generation_ring_generation(struct generation_ring *ring, uint64_t start_ns);
struct generation_ring_stats generation_ring_stats(const struct generation_ring *ring);

/* A snapshot: references to generations, without copies. */
struct generation_refs;

/* Returns references to all generations in the ring; NULL if there are none or out of memory. */
struct generation_refs *generation_ring_take(const struct generation_ring *ring);
size_t generation_refs_bytes(const struct generation_refs *refs);
/* Writes the whole snapshot in a few pieces. Returns 0 or the sink's error. */
int generation_refs_write(const struct generation_refs *refs, const struct byte_sink *out);
/* Returns the whole snapshot, generation_refs_bytes(), to be freed by the caller; NULL if out of memory. */
uint8_t *generation_refs_copy(const struct generation_refs *refs);
/* Drops old generations until at most `bytes` remain; keeps the newest. Returns false if none was dropped. */
bool generation_refs_cut(struct generation_refs *refs, size_t bytes);
void generation_refs_free(struct generation_refs *refs); /* NULL is allowed */

#endif
