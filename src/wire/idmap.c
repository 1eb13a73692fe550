/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "wire/idmap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

enum { FIRST_SLOTS = 16 };

static size_t home(const struct idmap *map, uint64_t key)
{
	key ^= map->seed;
	key *= 0x9e3779b97f4a7c15ull;
	key ^= key >> 32;
	key *= map->seed | 1;
	key ^= key >> 29;
	return (size_t)key & (map->capacity - 1);
}

static struct idmap_slot *find(const struct idmap *map, uint64_t key)
{
	size_t i = home(map, key);

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

uint32_t idmap_get(const struct idmap *map, uint64_t key)
{
	/* value 0 - 1 is IDMAP_NONE */
	return map->capacity ? find(map, key)->value - 1 : IDMAP_NONE;
}

static int grow(struct idmap *map)
{
	struct idmap bigger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_SLOTS,
			       .seed = map->seed};

	if (!map->capacity && getrandom(&bigger.seed, sizeof(bigger.seed), GRND_NONBLOCK) < 0)
		bigger.seed = (uintptr_t)map;
	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].value)
			*find(&bigger, map->slots[i].key) = map->slots[i];
	bigger.count = map->count;
	free(map->slots);
	*map = bigger;
	return 0;
}

int idmap_set(struct idmap *map, uint64_t key, uint32_t value)
{
	struct idmap_slot *slot;

	if (map->count >= map->capacity / 2 && grow(map))
		return -ENOMEM;
	slot = find(map, key);
	if (!slot->value)
		map->count++;
	*slot = (struct idmap_slot){.key = key, .value = value + 1};
	return 0;
}

void idmap_free(struct idmap *map)
{
	free(map->slots);
	*map = (struct idmap){0};
}
