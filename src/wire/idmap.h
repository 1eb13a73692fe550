/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A map from ids that a stranger chose to indices. The hash is seeded, so that
 * no file can be made whose ids all collide. Every 64-bit number is a key.
 */
#ifndef GOTRACE_IDMAP_H
#define GOTRACE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE UINT32_MAX

struct idmap_slot {
	uint64_t key;
	uint32_t value; /* plus 1; 0 = free */
};

struct idmap {
	struct idmap_slot *slots;
	size_t capacity, count;
	uint64_t seed;
};

/* IDMAP_NONE if the key is not there. */
uint32_t idmap_get(const struct idmap *map, uint64_t key);
/* value < IDMAP_NONE. 0 or -ENOMEM. */
int idmap_set(struct idmap *map, uint64_t key, uint32_t value);
void idmap_free(struct idmap *map);

#endif
