/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: a cache of log records that others refer to by key. Records that have not been used
 * for a long time are evicted.
 */
#ifndef GOTRACE_RAWLOG_ATTRIBUTE_CACHE_H
#define GOTRACE_RAWLOG_ATTRIBUTE_CACHE_H

#include "rawlog/rawlog.h"
#include "util/map64.h"

struct cached_record {
	uint64_t key;
	uint32_t version; /* unique for each content that was stored */
	struct log_record record;
};

struct cache_generation {
	struct map64 index; /* key -> index in items */
	struct cached_record **items;
	uint32_t n;
	size_t capacity;
};

struct attribute_cache {
	uint32_t limit;   /* items per generation; there are two generations */
	uint32_t version; /* the last one assigned */
	struct cache_generation young, old;
};

/* Stores a copy and replaces the key's previous record. The key must not be 0. Returns 0 or -ENOMEM. */
int attribute_cache_put(struct attribute_cache *cache, uint64_t key, const struct log_record *record);
/* Returns the key's record, or NULL if there is none. It is valid until the next put or get. */
const struct cached_record *attribute_cache_get(struct attribute_cache *cache, uint64_t key);
void attribute_cache_free(struct attribute_cache *cache);

#endif
