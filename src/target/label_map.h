/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A map[string]string of Go 1.9 to 1.23 (runtime/map.go, hashmap.go up to 1.10) with labels in it: where the
 * strings are. Small as a map of labels is; a bigger one is cut.
 */
#ifndef GOTRACE_TARGET_LABEL_MAP_H
#define GOTRACE_TARGET_LABEL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rawlog/rawlog.h"

struct label_ref { /* two strings of Go */
	uint64_t key, key_len, value, value_len;
};

/* Of all buckets of a map: many more than maps of this size have. */
#define LABEL_MAP_OVERFLOW 16u

struct label_map {
	uint8_t least; /* hash of a slot that is in use: label_map_least_hash */
	uint64_t old;  /* buckets that the map grew from and that may still be in use; 0 = none */
	unsigned nbuckets, nold;
	uint64_t overflow[LABEL_MAP_OVERFLOW]; /* addresses */
	unsigned noverflow;
};

struct label_set {
	uint64_t at; /* what is to be read next */
	bool lost;   /* it is no set of labels */
	bool cut;    /* not all of them, or not all of a text */
	unsigned n;
	struct label_ref refs[LABELS_MAX];
	struct label_map map; /* up to Go 1.23 */
	uint32_t number;
};

/* Bytes of the map's head (hmap). */
#define LABEL_MAP_HEAD 32u

uint8_t label_map_least_hash(unsigned go_minor);
/* The head's bytes; set->at becomes the address of the buckets. */
void label_map_take_head(struct label_set *set, const uint8_t *bytes);
/* Bytes of the buckets; 0 = there are none. */
uint32_t label_map_size(const struct label_set *set);
/* That many bytes. Adds the labels. */
void label_map_take_buckets(struct label_set *set, const uint8_t *bytes);
/* Reads what else there is: overflow buckets, and those of before the map grew. 0, -ESRCH or -EPERM. */
int label_map_read_rest(struct label_set *set, pid_t pid);

#endif
