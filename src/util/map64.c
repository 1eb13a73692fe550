/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Open addressing with linear probing: one cache line serves most look-ups.
 * A deletion shifts what follows back into the gap, so there are no
 * tombstones and a map that lives long does not decay.
 */
#include "util/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIN_CAPACITY 16u

/* Pointers and ids differ in few bits; the finalizer of MurmurHash3 spreads them over all. */
static uint64_t mix(uint64_t key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdull;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53ull;
	key ^= key >> 33;
	return key;
}

static size_t home_slot(const struct map64 *map, uint64_t key)
{
	return (size_t)mix(key) & (map->capacity - 1);
}

/* The slot that holds key, or the free slot where it would go. capacity must not be 0. */
static size_t find_slot(const struct map64 *map, uint64_t key)
{
	size_t slot = home_slot(map, key);

	while (map->keys[slot] && map->keys[slot] != key)
		slot = (slot + 1) & (map->capacity - 1);
	return slot;
}

uint32_t *map64_get(const struct map64 *map, uint64_t key)
{
	size_t slot;

	if (!map->capacity || !key)
		return NULL;
	slot = find_slot(map, key);
	return map->keys[slot] ? &map->values[slot] : NULL;
}

static int grow(struct map64 *map)
{
	struct map64 bigger = {.capacity = map->capacity ? map->capacity * 2 : MIN_CAPACITY};

	if (map->capacity > SIZE_MAX / (2 * sizeof(*map->keys)))
		return -ENOMEM;
	bigger.keys = calloc(bigger.capacity, sizeof(*bigger.keys));
	bigger.values = malloc(bigger.capacity * sizeof(*bigger.values));
	if (!bigger.keys || !bigger.values) {
		map64_free(&bigger);
		return -ENOMEM;
	}
	for (size_t i = 0; i < map->capacity; i++) {
		size_t slot;

		if (!map->keys[i])
			continue;
		slot = find_slot(&bigger, map->keys[i]);
		bigger.keys[slot] = map->keys[i];
		bigger.values[slot] = map->values[i];
	}
	bigger.count = map->count;
	map64_free(map);
	*map = bigger;
	return 0;
}

/* Linear probing stays short up to this load (5/8). */
static bool is_full(const struct map64 *map)
{
	return map->count >= map->capacity / 8 * 5;
}

int map64_set(struct map64 *map, uint64_t key, uint32_t value)
{
	uint32_t *held = map64_get(map, key);
	size_t slot;

	if (held) {
		*held = value;
		return 0;
	}
	if (is_full(map) && grow(map))
		return -ENOMEM;
	slot = find_slot(map, key);
	map->keys[slot] = key;
	map->values[slot] = value;
	map->count++;
	return 0;
}

/* Whether the entry at slot may move back to gap: its home must not lie between the two. */
static bool may_fill(const struct map64 *map, size_t gap, size_t slot)
{
	size_t mask = map->capacity - 1;
	size_t home = home_slot(map, map->keys[slot]);

	return ((slot - home) & mask) >= ((slot - gap) & mask);
}

bool map64_del(struct map64 *map, uint64_t key)
{
	size_t gap, slot, mask = map->capacity - 1;

	if (!map64_get(map, key))
		return false;
	gap = find_slot(map, key);
	for (slot = (gap + 1) & mask; map->keys[slot]; slot = (slot + 1) & mask) {
		if (!may_fill(map, gap, slot))
			continue;
		map->keys[gap] = map->keys[slot];
		map->values[gap] = map->values[slot];
		gap = slot;
	}
	map->keys[gap] = 0;
	map->count--;
	return true;
}

void map64_clear(struct map64 *map)
{
	if (map->capacity)
		memset(map->keys, 0, map->capacity * sizeof(*map->keys));
	map->count = 0;
}

void map64_free(struct map64 *map)
{
	free(map->keys);
	free(map->values);
	memset(map, 0, sizeof(*map));
}
