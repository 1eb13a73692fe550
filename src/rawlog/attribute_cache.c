/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "rawlog/attribute_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

static void cache_generation_free(struct cache_generation *generation)
{
	for (uint32_t i = 0; i < generation->n; i++)
		free(generation->items[i]);
	free(generation->items);
	map64_free(&generation->index);
	*generation = (struct cache_generation){0};
}

static struct cached_record **attribute_cache_find(const struct cache_generation *generation, uint64_t key)
{
	const uint32_t *at = map64_get(&generation->index, key);

	return at ? &generation->items[*at] : NULL;
}

static int cache_generation_add(struct cache_generation *generation, struct cached_record *item)
{
	if (array_grow(&generation->items, &generation->capacity, generation->n + 1,
		       sizeof(struct cached_record *)) ||
	    map64_set(&generation->index, item->key, generation->n))
		return -ENOMEM;
	generation->items[generation->n++] = item;
	return 0;
}

/* When the young generation is full, it becomes the old one, and the old one is freed. */
static void attribute_cache_make_space(struct attribute_cache *cache)
{
	if (cache->young.n < cache->limit)
		return;
	cache_generation_free(&cache->old);
	cache->old = cache->young;
	cache->young = (struct cache_generation){0};
}

/* Moves a record that is in use from the old generation to the young one. */
static struct cached_record *rejuvenate(struct attribute_cache *cache, uint64_t key)
{
	struct cached_record **place = attribute_cache_find(&cache->old, key), *item = place ? *place : NULL;

	if (!item)
		return NULL;
	*place = NULL;
	map64_del(&cache->old.index, key);
	attribute_cache_make_space(cache);
	if (cache_generation_add(&cache->young, item) == 0)
		return item;
	free(item);
	return NULL;
}

const struct cached_record *attribute_cache_get(struct attribute_cache *cache, uint64_t key)
{
	struct cached_record **place = attribute_cache_find(&cache->young, key);

	return place ? *place : rejuvenate(cache, key);
}

static struct cached_record *make_item(uint64_t key, const struct log_record *record)
{
	struct cached_record *item = malloc(sizeof(*item) + record->size);

	if (!item)
		return NULL;
	memcpy(item + 1, record->data, record->size);
	item->key = key;
	item->record = (struct log_record){.type = record->type, .size = record->size, .data = item + 1};
	return item;
}

static bool same(const struct log_record *one, const struct log_record *two)
{
	return one->type == two->type && one->size == two->size && !memcmp(one->data, two->data, one->size);
}

int attribute_cache_put(struct attribute_cache *cache, uint64_t key, const struct log_record *record)
{
	const struct cached_record *held = attribute_cache_get(cache, key);
	struct cached_record *item, **place;

	if (held && same(&held->record, record))
		return 0;
	item = make_item(key, record);
	if (!item)
		return -ENOMEM;
	item->version = ++cache->version;
	place = held ? attribute_cache_find(&cache->young, key) : NULL;
	if (place) {
		free(*place);
		*place = item;
		return 0;
	}
	attribute_cache_make_space(cache);
	if (cache_generation_add(&cache->young, item) == 0)
		return 0;
	free(item);
	return -ENOMEM;
}

void attribute_cache_free(struct attribute_cache *cache)
{
	cache_generation_free(&cache->young);
	cache_generation_free(&cache->old);
}
