/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A hash map from non-zero 64-bit keys to 32-bit values. */
#ifndef GOTRACE_MAP64_H
#define GOTRACE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map64 {
	uint64_t *keys; /* 0 = free slot */
	uint32_t *values;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

/* Returns a pointer to the key's value, or NULL. The pointer dies with the next map64_set. */
uint32_t *map64_get(const struct map64 *map, uint64_t key);
/* Sets or replaces. Returns 0, or -ENOMEM. key must not be 0. */
int map64_set(struct map64 *map, uint64_t key, uint32_t value);
/* Removes the key if it is there; returns whether it was. */
bool map64_del(struct map64 *map, uint64_t key);
/* Forgets all keys, keeps the memory. */
void map64_clear(struct map64 *map);
void map64_free(struct map64 *map);

#endif
