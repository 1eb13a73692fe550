/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A growing array that is moved into a BPF map of the same layout, once the map is loaded. */
#ifndef GOTRACE_CAPTURE_MAP_ARRAY_H
#define GOTRACE_CAPTURE_MAP_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct bpf_object;

struct map_array {
	const char *map; /* the map's name */
	size_t size;     /* of an element: a multiple of 8 */
	char *at;
	uint32_t n, capacity;
	bool placed; /* `at` is the map's memory */
};

/* Returns how many elements the array can have: `most` until it is placed, then the size of the map. */
uint32_t map_array_most(const struct map_array *array, uint32_t most);
/* Makes space for n elements, at most map_array_most() of them. Returns 0 or -ENOMEM. */
int map_array_reserve(struct map_array *array, uint32_t n);
/* Sets the map's size to n elements. Call it before the object is loaded. Returns 0 or a negative errno. */
int map_array_size_map(const struct map_array *array, struct bpf_object *object, uint32_t n,
		       struct error *err);
/* Moves the elements into the map. Call it once the object is loaded. Returns 0 or a negative errno. */
int map_array_place(struct map_array *array, const struct bpf_object *object, struct error *err);
/* Frees the array. The map keeps its contents. */
void map_array_free(struct map_array *array);

#endif
