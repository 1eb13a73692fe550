/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/label_map.h"

#include <errno.h>
#include <string.h>

#include "target/memory.h"

/* bmap: 8 bytes of hashes, 8 keys, 8 values, the address of the next bucket. */
#define SLOTS    8u
#define STRING   16u
#define KEYS     SLOTS
#define VALUES   (KEYS + SLOTS * STRING)
#define OVERFLOW (VALUES + SLOTS * STRING)
#define BUCKET   (OVERFLOW + 8u)
#define MAX_B    6u /* 64 buckets */

/* hmap */
#define HMAP_FLAGS   8u
#define HMAP_B       9u
#define HMAP_BUCKETS 16u
#define HMAP_OLD     24u

#define SAME_SIZE_GROW 8u /* hmap.flags */

static uint64_t label_map_word_at(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

void label_map_take_head(struct label_set *set, const uint8_t *bytes)
{
	uint64_t count = label_map_word_at(bytes);
	uint8_t b = bytes[HMAP_B];

	set->lost = b > MAX_B;
	if (set->lost || !count)
		return;
	set->at = label_map_word_at(bytes + HMAP_BUCKETS);
	set->map.nbuckets = 1u << b;
	set->map.old = label_map_word_at(bytes + HMAP_OLD);
	set->map.nold = bytes[HMAP_FLAGS] & SAME_SIZE_GROW || !b ? 1u << b : 1u << (b - 1);
}

uint32_t label_map_size(const struct label_set *set)
{
	return set->lost ? 0 : set->map.nbuckets * BUCKET;
}

/* minTopHash. The three values below it mark a bucket whose entries have moved to the new buckets. */
uint8_t label_map_least_hash(unsigned go_minor)
{
	return go_minor <= 11 ? 4 : 5;
}

static bool has_moved(const struct label_map *map, const uint8_t *bucket)
{
	return bucket[0] < map->least && bucket[0] >= map->least - 3;
}

/* An overflow bucket that is met twice is invalid: the set is lost. */
static void add_overflow(struct label_set *set, uint64_t address)
{
	struct label_map *map = &set->map;

	for (unsigned i = 0; i < map->noverflow; i++)
		set->lost = set->lost || map->overflow[i] == address;
	if (map->noverflow < LABEL_MAP_OVERFLOW)
		map->overflow[map->noverflow++] = address;
	else
		set->cut = true;
}

static void take_bucket(struct label_set *set, const uint8_t *bucket)
{
	uint64_t next = label_map_word_at(bucket + OVERFLOW);

	for (unsigned i = 0; i < SLOTS; i++) {
		const uint8_t *key = bucket + KEYS + i * STRING, *value = bucket + VALUES + i * STRING;

		if (bucket[i] < set->map.least)
			continue;
		if (set->n == LABELS_MAX) {
			set->cut = true;
			return;
		}
		set->refs[set->n++] =
			(struct label_ref){label_map_word_at(key), label_map_word_at(key + 8),
					   label_map_word_at(value), label_map_word_at(value + 8)};
	}
	if (next)
		add_overflow(set, next);
}

void label_map_take_buckets(struct label_set *set, const uint8_t *bytes)
{
	for (unsigned i = 0; i < set->map.nbuckets; i++)
		take_bucket(set, bytes + (size_t)i * BUCKET);
}

/* Returns 0 even if the bucket cannot be read; the set is then cut. */
static int read_bucket(struct label_set *set, pid_t pid, uint64_t address, bool old)
{
	uint8_t bucket[BUCKET];
	int rc = memory_read(pid, address, bucket, sizeof(bucket));

	if (rc == -ESRCH || rc == -EPERM)
		return rc;
	set->cut = set->cut || rc;
	if (rc == 0 && !(old && has_moved(&set->map, bucket)))
		take_bucket(set, bucket);
	return 0;
}

int label_map_read_rest(struct label_set *set, pid_t pid)
{
	const struct label_map *map = &set->map;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && map->old && !set->lost && i < map->nold; i++)
		rc = read_bucket(set, pid, map->old + (uint64_t)i * BUCKET, true);
	for (unsigned i = 0; rc == 0 && !set->lost && i < map->noverflow; i++)
		rc = read_bucket(set, pid, map->overflow[i], false);
	return rc;
}
