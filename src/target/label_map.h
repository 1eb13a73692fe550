/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Locates the strings in a label set that is a map[string]string, as in Go 1.9 to 1.23 (runtime/map.go,
 * hashmap.go up to 1.10). Such maps are small: a larger one is cut or lost.
 */
#ifndef GOTRACE_TARGET_LABEL_MAP_H
#define GOTRACE_TARGET_LABEL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rawlog/rawlog.h"

struct label_ref { /* two Go strings */
	uint64_t key, key_len, value, value_len;
};

/* Limit on a map's overflow buckets, many more than maps of this size have. */
#define LABEL_MAP_OVERFLOW 16u

struct label_map {
	uint8_t least; /* label_map_least_hash(): the smallest hash of a slot in use */
	uint64_t old;  /* address of the buckets before the map grew, which may still be in use; 0 = none */
	unsigned nbuckets, nold;
	uint64_t overflow[LABEL_MAP_OVERFLOW]; /* addresses */
	unsigned noverflow;
};

struct label_set {
	uint64_t at; /* address to read next */
	bool lost;   /* not a set of labels */
	bool cut;    /* labels are missing, or a text is truncated */
	unsigned n;
	struct label_ref refs[LABELS_MAX];
	struct label_map map; /* up to Go 1.23 */
	uint32_t number;
};

/* Size of the map's head (hmap) in bytes. */
#define LABEL_MAP_HEAD 32u

uint8_t label_map_least_hash(unsigned go_minor);
/* Parses the LABEL_MAP_HEAD bytes of the head. Sets set->at to the address of the buckets. */
void label_map_take_head(struct label_set *set, const uint8_t *bytes);
/* Returns the size of the buckets in bytes, or 0 if there are none. */
uint32_t label_map_size(const struct label_set *set);
/* Parses label_map_size() bytes of buckets and adds their labels. */
void label_map_take_buckets(struct label_set *set, const uint8_t *bytes);
/* Reads the overflow buckets, and those from before the map grew. Returns 0, -ESRCH or -EPERM. */
int label_map_read_rest(struct label_set *set, pid_t pid);

#endif
