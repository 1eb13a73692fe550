/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "native/map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "target/maps.h"
#include "target/memory.h"

#define MAX_VDSO (1u << 20) /* two to four pages */

struct place {
	uint64_t start, end, offset;
	uint32_t module;
};

struct module {
	uint64_t device, inode; /* 0, 0: the vDSO */
	struct native_file *file;
};

struct native_map {
	pid_t pid;
	int root, own_root;
	unsigned files_left;  /* that may be kept open */
	struct place *places; /* in the order of addresses, as the kernel lists them */
	size_t nplaces;
	struct module *modules;
	uint32_t nmodules;
};

/* --- opening --- */

static int open_module(struct native_map *map, const struct mapping *mapping)
{
	int fd;

	if (map->files_left == 0)
		return -1;
	fd = maps_open_file(map->pid, mapping);
	if (fd >= 0)
		map->files_left--;
	return fd < 0 ? -1 : fd;
}

/* Half of the descriptors that we may have: probes need some, too. */
static unsigned files_allowed(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 256;
	return limit.rlim_cur < 32768 ? (unsigned)limit.rlim_cur / 2 : 16384;
}

/* --- modules --- */

/* Of a file that is removed the kernel says so behind its path; one that is there may be named like that. */
static bool is_removed(int fd)
{
	struct stat st;

	return fd < 0 || fstat(fd, &st) || st.st_nlink == 0;
}

static void copy_path(const struct mapping *mapping, int fd, char path[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	size_t len = mapping->path_len < PATH_MAX - 1 ? mapping->path_len : PATH_MAX - 1;
	size_t more = sizeof(deleted) - 1;

	if (len > more && memcmp(mapping->path + len - more, deleted, more) == 0 && is_removed(fd))
		len -= more;
	memcpy(path, mapping->path, len);
	path[len] = '\0';
}

static bool is_vdso(const struct mapping *mapping)
{
	return mapping->path_len == 6 && memcmp(mapping->path, "[vdso]", 6) == 0;
}

static struct native_file *read_vdso(const struct native_map *map, const struct mapping *mapping)
{
	struct native_source source = {.fd = -1, .path = "[vdso]", .size = mapping->end - mapping->start};
	struct native_file *file;
	void *bytes;

	if (source.size > MAX_VDSO)
		source.size = MAX_VDSO;
	bytes = malloc(source.size);
	if (bytes && memory_read(map->pid, mapping->start, bytes, source.size) == 0)
		source.bytes = bytes;
	file = native_file_new(&source);
	free(bytes);
	return file;
}

static struct native_file *open_file(struct native_map *map, const struct mapping *mapping)
{
	char path[PATH_MAX];
	struct native_source source = {.path = path};
	struct native_file *file;

	if (is_vdso(mapping))
		return read_vdso(map, mapping);
	source.fd = open_module(map, mapping);
	copy_path(mapping, source.fd, path);
	file = native_file_new(&source);
	if (!file && source.fd >= 0)
		close(source.fd);
	return file;
}

static int add_module(struct native_map *map, const struct mapping *mapping, uint32_t *number)
{
	struct module *bigger = realloc(map->modules, (map->nmodules + 1) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	map->modules = bigger;
	bigger[map->nmodules] = (struct module){.device = makedev(mapping->major, mapping->minor),
						.inode = mapping->inode,
						.file = open_file(map, mapping)};
	if (!bigger[map->nmodules].file)
		return -ENOMEM;
	*number = map->nmodules++;
	return 0;
}

/* Files are kept open, so that no other can get the same inode. */
static int find_module(struct native_map *map, const struct mapping *mapping, uint32_t *number)
{
	uint64_t device = makedev(mapping->major, mapping->minor);

	for (uint32_t i = map->nmodules; i > 0; i--) {
		if (map->modules[i - 1].device == device && map->modules[i - 1].inode == mapping->inode) {
			*number = i - 1;
			return 0;
		}
	}
	return add_module(map, mapping, number);
}

/* --- the map --- */

static bool is_code(const struct mapping *mapping)
{
	return mapping->executable && (mapping->inode || is_vdso(mapping));
}

static int read_places(struct native_map *map, const struct maps *maps, struct place **places, size_t *n)
{
	struct mapping mapping;
	size_t at = 0, capacity = 0;

	while (maps_next(maps->text, maps->len, &at, &mapping)) {
		struct place *place;
		int rc;

		if (!is_code(&mapping))
			continue;
		if (*n == capacity) {
			capacity = capacity ? capacity * 2 : 64;
			place = realloc(*places, capacity * sizeof(**places));
			if (!place)
				return -ENOMEM;
			*places = place;
		}
		place = &(*places)[*n];
		*place = (struct place){.start = mapping.start,
					.end = mapping.end,
					.offset = is_vdso(&mapping) ? 0 : mapping.offset};
		rc = find_module(map, &mapping, &place->module);
		if (rc)
			return rc;
		(*n)++;
	}
	return 0;
}

static int read_map(struct native_map *map, struct error *err)
{
	struct place *places = NULL;
	size_t n = 0;
	struct maps maps;
	int rc = maps_read(map->pid, &maps, err);

	if (rc)
		return rc;
	rc = read_places(map, &maps, &places, &n);
	maps_free(&maps);
	/* A process that has just ended has no mappings, and one that executes another program none yet. */
	if (rc || n == 0) {
		free(places);
		return rc ? error_set(err, -rc, "out of memory") : 0;
	}
	free(map->places);
	map->places = places;
	map->nplaces = n;
	return 0;
}

int native_map_new(pid_t pid, struct native_map **map, struct error *err)
{
	struct native_map *made = calloc(1, sizeof(*made));
	char path[64];
	int rc;

	if (!made)
		return error_set(err, ENOMEM, "out of memory");
	made->pid = pid;
	made->files_left = files_allowed();
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	/* Stays good when the process is gone. */
	made->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	made->own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	rc = read_map(made, err);
	if (rc) {
		native_map_free(made);
		return rc;
	}
	*map = made;
	return 0;
}

void native_map_free(struct native_map *map)
{
	if (!map)
		return;
	for (uint32_t i = 0; i < map->nmodules; i++)
		native_file_free(map->modules[i].file);
	if (map->root >= 0)
		close(map->root);
	if (map->own_root >= 0)
		close(map->own_root);
	free(map->modules);
	free(map->places);
	free(map);
}

int native_map_refresh(struct native_map *map)
{
	return read_map(map, NULL);
}

struct native_at native_map_find(const struct native_map *map, uint64_t address)
{
	size_t low = 0, high = map->nplaces;
	const struct place *place;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->places[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= map->places[low - 1].end)
		return (struct native_at){.module = NO_MODULE};
	place = &map->places[low - 1];
	return (struct native_at){.module = place->module, .offset = address - place->start + place->offset};
}

struct native_file *native_map_file(const struct native_map *map, uint32_t module)
{
	return map->modules[module].file;
}

int native_map_root(const struct native_map *map)
{
	return map->root;
}

int native_map_own_root(const struct native_map *map)
{
	return map->own_root;
}
