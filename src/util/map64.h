/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A hash map from 64-bit keys to 32-bit values. The hash is seeded, so that keys from files and targets
 * cannot be chosen to collide. The order of slots therefore differs from run to run; map64_sorted_keys()
 * gives a reproducible order.
 */
#ifndef GOTRACE_UTIL_MAP64_H
#define GOTRACE_UTIL_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/hash.h"

#define MAP64_NONE UINT32_MAX

struct map64 {
	uint64_t *keys; /* 0 = free slot */
	uint32_t *values;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
	uint32_t zero; /* value of key 0, which has no slot */
	bool has_zero;
};

static inline size_t map64_home(const struct map64 *map, uint64_t key)
{
	return (size_t)hash_u64(map->seed, key) & (map->capacity - 1);
}

/* The slot that holds key, or the free slot for it. Neither capacity nor key may be 0. */
static inline size_t map64_slot(const struct map64 *map, uint64_t key)
{
	size_t slot = map64_home(map, key);

	while (map->keys[slot] && map->keys[slot] != key)
		slot = (slot + 1) & (map->capacity - 1);
	return slot;
}

/*
 * Returns a pointer to the key's value, or NULL. The pointer is valid until the next map64_set or map64_del.
 * Inline: the model looks up several keys for each record.
 */
static inline uint32_t *map64_get(const struct map64 *map, uint64_t key)
{
	size_t slot;

	if (!key)
		return map->has_zero ? (uint32_t *)(uintptr_t)&map->zero : NULL;
	if (!map->capacity)
		return NULL;
	slot = map64_slot(map, key);
	return map->keys[slot] ? &map->values[slot] : NULL;
}

/* The key's value, or MAP64_NONE. Values must be less than MAP64_NONE. */
static inline uint32_t map64_find(const struct map64 *map, uint64_t key)
{
	const uint32_t *value = map64_get(map, key);

	return value ? *value : MAP64_NONE;
}

/* Sets or replaces a value. Returns 0 or -ENOMEM. */
int map64_set(struct map64 *map, uint64_t key, uint32_t value);
/* Removes the key. Returns whether it was present. */
bool map64_del(struct map64 *map, uint64_t key);
/* All `count` keys in ascending order, to be freed by the caller. NULL when out of memory. */
uint64_t *map64_sorted_keys(const struct map64 *map);
/* Removes all keys but keeps the memory. */
void map64_clear(struct map64 *map);
void map64_free(struct map64 *map);

#endif
