/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/generation_ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { MAX_HEADER = 32, FIRST_SLOTS = 16 };

/* One generation, shared by the ring and the snapshots that refer to it. */
struct stored_generation {
	atomic_uint refs;
	uint64_t start_ns;
	size_t n;
	uint8_t bytes[];
};

struct header {
	uint8_t bytes[MAX_HEADER];
	size_t n;
};

struct generation_ring {
	struct generation_ring_options options;
	struct header header;
	uint8_t *gathered; /* bytes of the generation being encoded */
	size_t ngathered, gathered_capacity;
	struct stored_generation **slots; /* a ring buffer; the oldest is at `first` */
	size_t first, n, capacity;
	struct generation_ring_stats stats;
};

struct generation_refs {
	struct header header;
	size_t n, bytes;
	struct stored_generation *generations[];
};

struct generation_ring *generation_ring_new(const struct generation_ring_options *options)
{
	struct generation_ring *ring = calloc(1, sizeof(*ring));

	if (ring)
		ring->options = *options;
	return ring;
}

static void stored_generation_release(struct stored_generation *generation)
{
	if (atomic_fetch_sub(&generation->refs, 1) == 1)
		free(generation);
}

static struct stored_generation *generation_at(const struct generation_ring *ring, size_t i)
{
	return ring->slots[(ring->first + i) % ring->capacity];
}

static void drop_oldest(struct generation_ring *ring)
{
	struct stored_generation *oldest = generation_at(ring, 0);

	ring->stats.bytes -= oldest->n;
	ring->first = (ring->first + 1) % ring->capacity;
	ring->n--;
	stored_generation_release(oldest);
}

void generation_ring_free(struct generation_ring *ring)
{
	if (!ring)
		return;
	while (ring->n)
		drop_oldest(ring);
	free(ring->slots);
	free(ring->gathered);
	free(ring);
}

int generation_ring_write(void *ctx, const void *bytes, size_t n)
{
	struct generation_ring *ring = ctx;

	if (array_grow(&ring->gathered, &ring->gathered_capacity, ring->ngathered + n, 1))
		return -ENOMEM;
	memcpy(ring->gathered + ring->ngathered, bytes, n);
	ring->ngathered += n;
	return 0;
}

int generation_ring_header(struct generation_ring *ring)
{
	if (ring->ngathered > MAX_HEADER)
		return -EINVAL;
	memcpy(ring->header.bytes, ring->gathered, ring->ngathered);
	ring->header.n = ring->stats.bytes = ring->ngathered;
	ring->ngathered = 0;
	return 0;
}

static int generation_ring_grow(struct generation_ring *ring)
{
	size_t capacity = ring->capacity ? ring->capacity * 2 : FIRST_SLOTS;
	struct stored_generation **slots;

	if (ring->n < ring->capacity)
		return 0;
	slots = malloc(capacity * sizeof(struct stored_generation *));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < ring->n; i++)
		slots[i] = generation_at(ring, i);
	free(ring->slots);
	ring->slots = slots;
	ring->capacity = capacity;
	ring->first = 0;
	return 0;
}

static struct stored_generation *make_generation(struct generation_ring *ring, uint64_t start_ns)
{
	struct stored_generation *generation = malloc(sizeof(*generation) + ring->ngathered);

	if (!generation)
		return NULL;
	atomic_init(&generation->refs, 1);
	generation->start_ns = start_ns;
	generation->n = ring->ngathered;
	memcpy(generation->bytes, ring->gathered, ring->ngathered);
	ring->ngathered = 0;
	return generation;
}

/* Returns true if the window is covered without the oldest generation. */
static bool is_old(const struct generation_ring *ring)
{
	return ring->n > 1 &&
	       ring->stats.newest_ns - generation_at(ring, 1)->start_ns >= ring->options.window_ns;
}

static void drop(struct generation_ring *ring)
{
	size_t limit = flight_share_part(ring->options.share, ring->options.max_bytes);

	while (is_old(ring))
		drop_oldest(ring);
	while (ring->n && ring->stats.bytes > limit) {
		drop_oldest(ring);
		ring->stats.dropped_in_window++;
	}
}

int generation_ring_generation(struct generation_ring *ring, uint64_t start_ns)
{
	struct generation_ring_stats *stats = &ring->stats;
	size_t bytes = ring->ngathered;
	struct stored_generation *generation;

	if (generation_ring_grow(ring))
		return -ENOMEM;
	generation = make_generation(ring, start_ns);
	if (!generation)
		return -ENOMEM;
	ring->slots[(ring->first + ring->n++) % ring->capacity] = generation;
	stats->bytes += bytes;
	stats->newest_ns = start_ns;
	stats->closed++;
	stats->too_large =
		ring->header.n + bytes > flight_share_part(ring->options.share, ring->options.max_bytes)
			? bytes
			: 0;
	drop(ring);
	stats->generations = ring->n;
	stats->start_ns = ring->n ? generation_at(ring, 0)->start_ns : 0;
	return 0;
}

struct generation_ring_stats generation_ring_stats(const struct generation_ring *ring)
{
	return ring->stats;
}

struct generation_refs *generation_ring_take(const struct generation_ring *ring)
{
	struct generation_refs *refs;

	if (!ring->n)
		return NULL;
	refs = malloc(sizeof(*refs) + ring->n * sizeof(refs->generations[0]));
	if (!refs)
		return NULL;
	refs->header = ring->header;
	refs->n = ring->n;
	refs->bytes = ring->stats.bytes;
	for (size_t i = 0; i < ring->n; i++) {
		refs->generations[i] = generation_at(ring, i);
		atomic_fetch_add(&refs->generations[i]->refs, 1);
	}
	return refs;
}

size_t generation_refs_bytes(const struct generation_refs *refs)
{
	return refs->bytes;
}

int generation_refs_write(const struct generation_refs *refs, const struct byte_sink *out)
{
	int rc = out->write(out->ctx, refs->header.bytes, refs->header.n);

	for (size_t i = 0; i < refs->n && rc == 0; i++)
		rc = out->write(out->ctx, refs->generations[i]->bytes, refs->generations[i]->n);
	return rc;
}

uint8_t *generation_refs_copy(const struct generation_refs *refs)
{
	uint8_t *bytes = malloc(refs->bytes);
	size_t at = refs->header.n;

	if (!bytes)
		return NULL;
	memcpy(bytes, refs->header.bytes, at);
	for (size_t i = 0; i < refs->n; i++) {
		memcpy(bytes + at, refs->generations[i]->bytes, refs->generations[i]->n);
		at += refs->generations[i]->n;
	}
	return bytes;
}

bool generation_refs_cut(struct generation_refs *refs, size_t bytes)
{
	size_t cut = 0;

	while (cut + 1 < refs->n && refs->bytes > bytes) {
		refs->bytes -= refs->generations[cut]->n;
		stored_generation_release(refs->generations[cut++]);
	}
	refs->n -= cut;
	memmove(refs->generations, refs->generations + cut, refs->n * sizeof(refs->generations[0]));
	return cut > 0;
}

void generation_refs_free(struct generation_refs *refs)
{
	if (!refs)
		return;
	for (size_t i = 0; i < refs->n; i++)
		stored_generation_release(refs->generations[i]);
	free(refs);
}
