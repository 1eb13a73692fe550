/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/map_array.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t mapped_size(const struct map_array *array)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (array->capacity * array->size + page - 1) & ~(page - 1);
}

void map_array_free(struct map_array *array)
{
	if (array->placed)
		munmap(array->at, mapped_size(array));
	else
		free(array->at);
	array->at = NULL;
}

uint32_t map_array_most(const struct map_array *array, uint32_t most)
{
	return array->placed ? array->capacity : most;
}

int map_array_reserve(struct map_array *array, uint32_t n)
{
	uint32_t capacity = array->capacity ? array->capacity : 1024;
	char *bigger;

	if (n <= array->capacity)
		return 0;
	while (capacity < n)
		capacity *= 2;
	bigger = realloc(array->at, capacity * array->size);
	if (!bigger)
		return -ENOMEM;
	array->at = bigger;
	array->capacity = capacity;
	return 0;
}

int map_array_size_map(const struct map_array *array, struct bpf_object *object, uint32_t n,
		       struct error *err)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, array->map);
	int rc = map ? bpf_map__set_max_entries(map, n) : -ENOENT;

	return rc ? error_set(err, -rc, "cannot size the BPF map %s: %s", array->map, strerror(-rc)) : 0;
}

int map_array_place(struct map_array *array, const struct bpf_object *object, struct error *err)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, array->map);
	struct map_array placed = *array;

	if (!map)
		return error_set(err, ENOENT, "the BPF object has no map %s", array->map);
	placed.capacity = bpf_map__max_entries(map);
	placed.at = mmap(NULL, mapped_size(&placed), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (placed.at == MAP_FAILED)
		return error_set(err, errno, "cannot map the BPF map %s: %s", array->map, strerror(errno));
	placed.placed = true;
	if (array->n)
		memcpy(placed.at, array->at, array->n * array->size);
	free(array->at);
	*array = placed;
	return 0;
}
