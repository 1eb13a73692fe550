/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "rawlog/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void shelf_free(struct shelf *shelf)
{
	for (uint32_t i = 0; i < shelf->n; i++)
		free(shelf->items[i]);
	free(shelf->items);
	map64_free(&shelf->index);
	*shelf = (struct shelf){0};
}

static struct item **find(const struct shelf *shelf, uint64_t key)
{
	const uint32_t *at = map64_get(&shelf->index, key);

	return at ? &shelf->items[*at] : NULL;
}

static int shelf_add(struct shelf *shelf, struct item *item)
{
	if (shelf->n == shelf->capacity) {
		uint32_t capacity = shelf->capacity ? shelf->capacity * 2 : 64;
		struct item **bigger = realloc(shelf->items, capacity * sizeof(struct item *));

		if (!bigger)
			return -ENOMEM;
		shelf->items = bigger;
		shelf->capacity = capacity;
	}
	if (map64_set(&shelf->index, item->key, shelf->n))
		return -ENOMEM;
	shelf->items[shelf->n++] = item;
	return 0;
}

/* A full shelf becomes the old one. */
static void make_room(struct store *store)
{
	if (store->young.n < store->limit)
		return;
	shelf_free(&store->old);
	store->old = store->young;
	store->young = (struct shelf){0};
}

/* What is asked for is young again. */
static struct item *rejuvenate(struct store *store, uint64_t key)
{
	struct item **place = find(&store->old, key), *item = place ? *place : NULL;

	if (!item)
		return NULL;
	*place = NULL;
	map64_del(&store->old.index, key);
	make_room(store);
	if (shelf_add(&store->young, item) == 0)
		return item;
	free(item);
	return NULL;
}

const struct item *store_get(struct store *store, uint64_t key)
{
	struct item **place = find(&store->young, key);

	return place ? *place : rejuvenate(store, key);
}

static struct item *make_item(uint64_t key, const struct log_record *record)
{
	struct item *item = malloc(sizeof(*item) + record->size);

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

int store_put(struct store *store, uint64_t key, const struct log_record *record)
{
	const struct item *held = store_get(store, key);
	struct item *item, **place;

	if (held && same(&held->record, record))
		return 0;
	item = make_item(key, record);
	if (!item)
		return -ENOMEM;
	item->version = ++store->version;
	place = held ? find(&store->young, key) : NULL;
	if (place) {
		free(*place);
		*place = item;
		return 0;
	}
	make_room(store);
	if (shelf_add(&store->young, item) == 0)
		return 0;
	free(item);
	return -ENOMEM;
}

void store_free(struct store *store)
{
	shelf_free(&store->young);
	shelf_free(&store->old);
}
