/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/names/map.h"

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
#include "target/process.h"
#include "util/array.h"
#include "util/files.h"

#define MAX_VDSO    (1u << 20) /* two to four pages */
#define MAX_PLACES  (1u << 17) /* twice vm.max_map_count's 65,530 */
#define MAX_MODULES 2048u
#define MAX_GONE    64u /* of these, no longer mapped: a file may be mapped again */

struct map_place {
	uint64_t start, end, offset;
	uint32_t module;
};

struct mapped_module {
	uint32_t number;
	uint64_t device, inode; /* 0, 0: the vDSO */
	struct native_file *file;
	uint64_t seen; /* the last refresh that found it mapped */
};

struct native_map {
	pid_t pid;
	int root, own_root;
	unsigned most_files;      /* most files to keep open */
	struct map_place *places; /* sorted by address, as the kernel lists them */
	size_t nplaces;
	struct mapped_module *modules; /* sorted by number */
	uint32_t nmodules;
	uint32_t next_number;
	uint64_t refreshes;
};

/* --- opening --- */

static int open_module(const struct native_map *map, const struct proc_mapping *mapping)
{
	int fd;

	if (map->nmodules >= map->most_files)
		return -1;
	fd = maps_open_file(map->pid, mapping);
	return fd < 0 ? -1 : fd;
}

/* Half of the allowed descriptors: probes need some, too. */
static unsigned files_allowed(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 256;
	return limit.rlim_cur < 32768 ? (unsigned)limit.rlim_cur / 2 : 16384;
}

/* --- modules --- */

/* The kernel appends " (deleted)" to the path of a removed file, but an existing file may have such a
 * name. */
static bool is_removed(int fd)
{
	struct stat st;

	return fd < 0 || fstat(fd, &st) || st.st_nlink == 0;
}

static void copy_path(const struct proc_mapping *mapping, int fd, char path[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	size_t len = mapping->path_len < PATH_MAX - 1 ? mapping->path_len : PATH_MAX - 1;
	size_t more = sizeof(deleted) - 1;

	if (len > more && memcmp(mapping->path + len - more, deleted, more) == 0 && is_removed(fd))
		len -= more;
	memcpy(path, mapping->path, len);
	path[len] = '\0';
}

/*
 * Debian's /usr/bin/redis-server is a link to redis-check-rdb, which a user has never heard of: takes the
 * name by which the process goes if it is another name of its file.
 */
static void take_known_name(const struct native_map *map, int fd, char path[PATH_MAX])
{
	char *name = strrchr(path, '/'), comm[16] = "", other[PATH_MAX];
	struct stat st, known;
	int found;

	process_comm(map->pid, comm);
	if (!name++ || fd < 0 || !comm[0] || strchr(comm, '/') || strcmp(name, comm) == 0 ||
	    snprintf(other, sizeof(other), "%.*s%s", (int)(name - path), path, comm) >= PATH_MAX)
		return;
	found = file_open_in(map->root, other);
	if (found < 0)
		return;
	if (fstat(fd, &st) == 0 && fstat(found, &known) == 0 && st.st_dev == known.st_dev &&
	    st.st_ino == known.st_ino)
		strcpy(path, other);
	close(found);
}

static bool is_vdso(const struct proc_mapping *mapping)
{
	return mapping->path_len == 6 && memcmp(mapping->path, "[vdso]", 6) == 0;
}

static struct native_file *read_vdso(const struct native_map *map, const struct proc_mapping *mapping)
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

static struct native_file *native_map_open_file(const struct native_map *map,
						const struct proc_mapping *mapping)
{
	char path[PATH_MAX];
	struct native_source source = {.path = path};
	struct native_file *file;

	if (is_vdso(mapping))
		return read_vdso(map, mapping);
	source.fd = open_module(map, mapping);
	copy_path(mapping, source.fd, path);
	if (map->next_number == 0) /* the program itself has the lowest address */
		take_known_name(map, source.fd, path);
	file = native_file_new(&source);
	if (!file && source.fd >= 0)
		close(source.fd);
	return file;
}

static int add_module(struct native_map *map, const struct proc_mapping *mapping, uint32_t *number)
{
	struct mapped_module *bigger = realloc(map->modules, (map->nmodules + 1) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	map->modules = bigger;
	bigger[map->nmodules] = (struct mapped_module){.number = map->next_number,
						       .device = makedev(mapping->major, mapping->minor),
						       .inode = mapping->inode,
						       .seen = map->refreshes,
						       .file = native_map_open_file(map, mapping)};
	if (!bigger[map->nmodules].file)
		return -ENOMEM;
	*number = map->next_number++;
	map->nmodules++;
	return 0;
}

static bool native_map_is_gone(const struct native_map *map, const struct mapped_module *module)
{
	return module->seen != map->refreshes;
}

static void drop_module(struct native_map *map, uint32_t at)
{
	native_file_free(map->modules[at].file);
	map->nmodules--;
	memmove(&map->modules[at], &map->modules[at + 1], (map->nmodules - at) * sizeof(*map->modules));
}

/* Keeps at most `most` of the files that are no longer mapped: those that were mapped last. */
static void drop_old(struct native_map *map, uint32_t most)
{
	uint32_t gone = 0;

	for (uint32_t i = 0; i < map->nmodules; i++)
		gone += native_map_is_gone(map, &map->modules[i]);
	for (; gone > most; gone--) {
		uint32_t oldest = 0;

		for (uint32_t i = 0; i < map->nmodules; i++) {
			if (map->modules[i].seen < map->modules[oldest].seen)
				oldest = i;
		}
		drop_module(map, oldest);
	}
}

/* Files are kept open so that no other file can get the same inode. Mappings of one file are mostly adjacent.
 * Modules beyond MAX_MODULES have no names. */
static int native_map_find_module(struct native_map *map, const struct proc_mapping *mapping,
				  uint32_t *number)
{
	uint64_t device = makedev(mapping->major, mapping->minor);

	for (uint32_t i = map->nmodules; i > 0; i--) {
		struct mapped_module *module = &map->modules[i - 1];

		if (module->device == device && module->inode == mapping->inode) {
			module->seen = map->refreshes;
			*number = module->number;
			return 0;
		}
	}
	*number = NO_MODULE;
	return map->nmodules < MAX_MODULES ? add_module(map, mapping, number) : 0;
}

/* --- the map --- */

static bool is_code(const struct proc_mapping *mapping)
{
	return mapping->executable && (mapping->inode || is_vdso(mapping));
}

static int read_places(struct native_map *map, const struct maps *maps, struct map_place **places, size_t *n)
{
	struct proc_mapping mapping;
	size_t at = 0, capacity = 0;

	while (maps_next(maps->text, maps->len, &at, &mapping)) {
		struct map_place *place;
		int rc;

		if (!is_code(&mapping))
			continue;
		if (*n == MAX_PLACES)
			return 0;
		if (array_grow(places, &capacity, *n + 1, sizeof(**places)))
			return -ENOMEM;
		place = &(*places)[*n];
		*place = (struct map_place){.start = mapping.start,
					    .end = mapping.end,
					    .offset = is_vdso(&mapping) ? 0 : mapping.offset};
		rc = native_map_find_module(map, &mapping, &place->module);
		if (rc)
			return rc;
		(*n)++;
	}
	return 0;
}

static int read_map(struct native_map *map, struct error *err)
{
	struct map_place *places = NULL;
	size_t n = 0;
	struct maps maps;
	int rc = maps_read(map->pid, &maps, err);

	if (rc)
		return rc;
	map->refreshes++;
	rc = read_places(map, &maps, &places, &n);
	maps_free(&maps);
	/* A process that has just exited has no mappings, and one that is in an exec has none yet. */
	if (rc || n == 0) {
		free(places);
		return rc ? error_set(err, -rc, "out of memory") : 0;
	}
	free(map->places);
	map->places = places;
	map->nplaces = n;
	drop_old(map, MAX_GONE);
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
	made->most_files = files_allowed();
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	/* Stays valid after the process is gone. */
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

void native_map_drop_unmapped(struct native_map *map)
{
	drop_old(map, 0);
}

struct native_at native_map_find(const struct native_map *map, uint64_t address)
{
	size_t n = array_upto(map->places, map->nplaces, sizeof(*map->places), address);
	const struct map_place *place;

	if (n == 0 || address >= map->places[n - 1].end)
		return (struct native_at){.module = NO_MODULE};
	place = &map->places[n - 1];
	return (struct native_at){.module = place->module, .offset = address - place->start + place->offset};
}

struct native_file *native_map_file(const struct native_map *map, uint32_t module)
{
	size_t low = 0, high = map->nmodules;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->modules[middle].number < module)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->nmodules && map->modules[low].number == module ? map->modules[low].file : NULL;
}

int native_map_root(const struct native_map *map)
{
	return map->root;
}

int native_map_own_root(const struct native_map *map)
{
	return map->own_root;
}
