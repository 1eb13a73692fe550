/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Open addressing with linear probing: one cache line serves most look-ups. A deletion shifts the following
 * entries back into the gap, so there are no tombstones, and long-lived maps do not degrade.
 */
#include "util/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIN_CAPACITY 16u

static int map64_grow(struct map64 *map)
{
	struct map64 bigger = *map;

	if (map->capacity > SIZE_MAX / (2 * sizeof(*map->keys)))
		return -ENOMEM;
	bigger.capacity = map->capacity ? map->capacity * 2 : MIN_CAPACITY;
	if (!map->capacity)
		bigger.seed = hash_seed(map);
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
		slot = map64_slot(&bigger, map->keys[i]);
		bigger.keys[slot] = map->keys[i];
		bigger.values[slot] = map->values[i];
	}
	map64_free(map);
	*map = bigger;
	return 0;
}

/* Probe sequences stay short up to this load factor (5/8). */
static bool map64_is_full(const struct map64 *map)
{
	return map->count >= map->capacity / 8 * 5;
}

int map64_set(struct map64 *map, uint64_t key, uint32_t value)
{
	uint32_t *held = map64_get(map, key);
	size_t slot;

	if (!key) {
		map->count += !map->has_zero;
		map->has_zero = true;
		map->zero = value;
		return 0;
	}
	if (held) {
		*held = value;
		return 0;
	}
	if (map64_is_full(map) && map64_grow(map))
		return -ENOMEM;
	slot = map64_slot(map, key);
	map->keys[slot] = key;
	map->values[slot] = value;
	map->count++;
	return 0;
}

/* Whether the entry at slot may move back to gap: its home must not lie between the two. */
static bool may_fill(const struct map64 *map, size_t gap, size_t slot)
{
	size_t mask = map->capacity - 1;
	size_t home = map64_home(map, map->keys[slot]);

	return ((slot - home) & mask) >= ((slot - gap) & mask);
}

bool map64_del(struct map64 *map, uint64_t key)
{
	size_t gap, slot, mask = map->capacity - 1;

	if (!map64_get(map, key))
		return false;
	map->count--;
	if (!key) {
		map->has_zero = false;
		return true;
	}
	gap = map64_slot(map, key);
	for (slot = (gap + 1) & mask; map->keys[slot]; slot = (slot + 1) & mask) {
		if (!may_fill(map, gap, slot))
			continue;
		map->keys[gap] = map->keys[slot];
		map->values[gap] = map->values[slot];
		gap = slot;
	}
	map->keys[gap] = 0;
	return true;
}

static int map64_compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;

	return one < two ? -1 : one > two;
}

uint64_t *map64_sorted_keys(const struct map64 *map)
{
	uint64_t *keys = malloc((map->count + 1) * sizeof(*keys));
	size_t n = 0;

	if (!keys)
		return NULL;
	if (map->has_zero)
		keys[n++] = 0;
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->keys[i])
			keys[n++] = map->keys[i];
	}
	qsort(keys, n, sizeof(*keys), map64_compare);
	return keys;
}

void map64_clear(struct map64 *map)
{
	if (map->capacity)
		memset(map->keys, 0, map->capacity * sizeof(*map->keys));
	map->count = 0;
	map->has_zero = false;
}

void map64_free(struct map64 *map)
{
	free(map->keys);
	free(map->values);
	memset(map, 0, sizeof(*map));
}
