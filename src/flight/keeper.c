/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/keeper.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER = 32, FIRST_SLOTS = 16 };

/* One generation: of the keeper's, and of the snapshots that have it. */
struct piece {
	atomic_uint refs;
	uint64_t start_ns;
	size_t n;
	uint8_t bytes[];
};

struct header {
	uint8_t bytes[MAX_HEADER];
	size_t n;
};

struct keeper {
	struct keeper_options options;
	struct header header;
	uint8_t *gathered; /* of the generation that is being encoded */
	size_t ngathered, room;
	struct piece **ring; /* oldest first, from `first` on, around the end */
	size_t first, n, capacity;
	struct keeper_stats stats;
};

struct kept {
	struct header header;
	size_t n, bytes;
	struct piece *pieces[];
};

struct keeper *keeper_new(const struct keeper_options *options)
{
	struct keeper *keeper = calloc(1, sizeof(*keeper));

	if (keeper)
		keeper->options = *options;
	return keeper;
}

static void release(struct piece *piece)
{
	if (atomic_fetch_sub(&piece->refs, 1) == 1)
		free(piece);
}

static struct piece *piece_at(const struct keeper *keeper, size_t i)
{
	return keeper->ring[(keeper->first + i) % keeper->capacity];
}

static void drop_oldest(struct keeper *keeper)
{
	struct piece *oldest = piece_at(keeper, 0);

	keeper->stats.bytes -= oldest->n;
	keeper->first = (keeper->first + 1) % keeper->capacity;
	keeper->n--;
	release(oldest);
}

void keeper_free(struct keeper *keeper)
{
	if (!keeper)
		return;
	while (keeper->n)
		drop_oldest(keeper);
	free(keeper->ring);
	free(keeper->gathered);
	free(keeper);
}

int keeper_write(void *ctx, const void *bytes, size_t n)
{
	struct keeper *keeper = ctx;

	if (n > keeper->room - keeper->ngathered) {
		size_t room = keeper->room ? keeper->room : 1 << 16;
		uint8_t *more;

		while (room - keeper->ngathered < n)
			room *= 2;
		more = realloc(keeper->gathered, room);
		if (!more)
			return -ENOMEM;
		keeper->gathered = more;
		keeper->room = room;
	}
	memcpy(keeper->gathered + keeper->ngathered, bytes, n);
	keeper->ngathered += n;
	return 0;
}

int keeper_header(struct keeper *keeper)
{
	if (keeper->ngathered > MAX_HEADER)
		return -EINVAL;
	memcpy(keeper->header.bytes, keeper->gathered, keeper->ngathered);
	keeper->header.n = keeper->stats.bytes = keeper->ngathered;
	keeper->ngathered = 0;
	return 0;
}

static int grow(struct keeper *keeper)
{
	size_t capacity = keeper->capacity ? keeper->capacity * 2 : FIRST_SLOTS;
	struct piece **ring;

	if (keeper->n < keeper->capacity)
		return 0;
	ring = malloc(capacity * sizeof(struct piece *));
	if (!ring)
		return -ENOMEM;
	for (size_t i = 0; i < keeper->n; i++)
		ring[i] = piece_at(keeper, i);
	free(keeper->ring);
	keeper->ring = ring;
	keeper->capacity = capacity;
	keeper->first = 0;
	return 0;
}

static struct piece *make_piece(struct keeper *keeper, uint64_t start_ns)
{
	struct piece *piece = malloc(sizeof(*piece) + keeper->ngathered);

	if (!piece)
		return NULL;
	atomic_init(&piece->refs, 1);
	piece->start_ns = start_ns;
	piece->n = keeper->ngathered;
	memcpy(piece->bytes, keeper->gathered, keeper->ngathered);
	keeper->ngathered = 0;
	return piece;
}

/* The oldest is not needed when the one behind it reaches back far enough. */
static bool is_old(const struct keeper *keeper)
{
	return keeper->n > 1 &&
	       keeper->stats.newest_ns - piece_at(keeper, 1)->start_ns >= keeper->options.window_ns;
}

static void drop(struct keeper *keeper)
{
	while (is_old(keeper))
		drop_oldest(keeper);
	while (keeper->n && keeper->stats.bytes > keeper->options.max_bytes) {
		drop_oldest(keeper);
		keeper->stats.dropped_soon++;
	}
}

int keeper_generation(struct keeper *keeper, uint64_t start_ns)
{
	struct keeper_stats *stats = &keeper->stats;
	size_t bytes = keeper->ngathered;
	struct piece *piece;

	if (grow(keeper))
		return -ENOMEM;
	piece = make_piece(keeper, start_ns);
	if (!piece)
		return -ENOMEM;
	keeper->ring[(keeper->first + keeper->n++) % keeper->capacity] = piece;
	stats->bytes += bytes;
	stats->newest_ns = start_ns;
	stats->closed++;
	stats->too_large = keeper->header.n + bytes > keeper->options.max_bytes ? bytes : 0;
	drop(keeper);
	stats->generations = keeper->n;
	stats->start_ns = keeper->n ? piece_at(keeper, 0)->start_ns : 0;
	return 0;
}

struct keeper_stats keeper_stats(const struct keeper *keeper)
{
	return keeper->stats;
}

struct kept *keeper_take(const struct keeper *keeper)
{
	struct kept *kept;

	if (!keeper->n)
		return NULL;
	kept = malloc(sizeof(*kept) + keeper->n * sizeof(kept->pieces[0]));
	if (!kept)
		return NULL;
	kept->header = keeper->header;
	kept->n = keeper->n;
	kept->bytes = keeper->stats.bytes;
	for (size_t i = 0; i < keeper->n; i++) {
		kept->pieces[i] = piece_at(keeper, i);
		atomic_fetch_add(&kept->pieces[i]->refs, 1);
	}
	return kept;
}

size_t kept_bytes(const struct kept *kept)
{
	return kept->bytes;
}

int kept_write(const struct kept *kept, const struct byte_sink *out)
{
	int rc = out->write(out->ctx, kept->header.bytes, kept->header.n);

	for (size_t i = 0; i < kept->n && rc == 0; i++)
		rc = out->write(out->ctx, kept->pieces[i]->bytes, kept->pieces[i]->n);
	return rc;
}

bool kept_cut(struct kept *kept, size_t bytes)
{
	size_t cut = 0;

	while (cut + 1 < kept->n && kept->bytes > bytes) {
		kept->bytes -= kept->pieces[cut]->n;
		release(kept->pieces[cut++]);
	}
	kept->n -= cut;
	memmove(kept->pieces, kept->pieces + cut, kept->n * sizeof(kept->pieces[0]));
	return cut > 0;
}

void kept_free(struct kept *kept)
{
	if (!kept)
		return;
	for (size_t i = 0; i < kept->n; i++)
		release(kept->pieces[i]);
	free(kept);
}
