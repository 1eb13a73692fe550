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
	const char *map; /* its name */
	size_t size;     /* of an element: a multiple of 8 */
	char *at;
	uint32_t n, capacity;
	bool placed; /* `at` is the map's memory */
};

/* How many elements it can have: `most`, as long as it is not placed. */
uint32_t map_array_most(const struct map_array *array, uint32_t most);
/* Makes space for n elements, at most map_array_most() of them. Returns 0 or -ENOMEM. */
int map_array_reserve(struct map_array *array, uint32_t n);
/* Before the object is loaded: the map will have n elements. Returns 0 or a negative errno. */
int map_array_size_map(const struct map_array *array, struct bpf_object *object, uint32_t n,
		       struct error *err);
/* Once the object is loaded: moves the elements into the map. Returns 0 or a negative errno. */
int map_array_place(struct map_array *array, const struct bpf_object *object, struct error *err);
/* The array is empty then, but not the map. */
void map_array_free(struct map_array *array);

#endif
