/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/available_memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* File names of cgroup v1 and v2 (Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst). */
struct hierarchy {
	const char *mount, *limit, *usage, *cache;
};

static const struct hierarchy version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
					   "memory.usage_in_bytes", "total_inactive_file"};
static const struct hierarchy version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/*
 * Reads the number that follows a key at the beginning of a line; with key "", the number in the first line.
 */
static bool memory_read_number(const char *path, const char *key, uint64_t *number)
{
	FILE *file = fopen(path, "re");
	char line[256], *end;
	size_t len = strlen(key);
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, len) != 0)
			continue;
		*number = strtoull(line + len, &end, 10);
		found = end != line + len;
	}
	if (file)
		fclose(file);
	return found;
}

static bool read_of_group(const char *group, const char *name, const char *key, uint64_t *number)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", group, name);
	return memory_read_number(path, key, number);
}

/*
 * Bytes left below a cgroup's limit; UINT64_MAX without a limit. Page cache counts as free, because it can be
 * reclaimed.
 */
static uint64_t left_in(const char *group, const struct hierarchy *names)
{
	uint64_t limit, usage, cache = 0;

	if (!read_of_group(group, names->limit, "", &limit) ||
	    !read_of_group(group, names->usage, "", &usage))
		return UINT64_MAX; /* "max": no limit */
	read_of_group(group, "memory.stat", names->cache, &cache);
	usage -= cache < usage ? cache : usage;
	return usage < limit ? limit - usage : 0;
}

/* The minimum over a cgroup and all its parents. */
static uint64_t left_below(const char *root, const char *path, const struct hierarchy *names)
{
	char group[PATH_MAX + 64];
	size_t mount = (size_t)snprintf(group, sizeof(group), "%s%s", root, names->mount), len;
	uint64_t least = UINT64_MAX;

	snprintf(group + mount, sizeof(group) - mount, "%s", strcmp(path, "/") == 0 ? "" : path);
	for (;;) {
		uint64_t left = left_in(group, names);

		least = left < least ? left : least;
		len = strlen(group);
		while (len > mount && group[len - 1] != '/')
			len--;
		if (len <= mount)
			return least;
		group[len - 1] = '\0';
	}
}

/* Lines are "0::/path" for v2 and "7:memory:/path" for v1 (cgroups(7)). */
static uint64_t left_in_groups(const char *root)
{
	char path[PATH_MAX], line[PATH_MAX];
	uint64_t least = UINT64_MAX;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':'),
		     *group = controllers ? strchr(controllers + 1, ':') : NULL;
		const struct hierarchy *names;
		uint64_t left;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		names = strcmp(line, "0:") == 0                  ? &version_2
			: strcmp(controllers + 1, "memory") == 0 ? &version_1
								 : NULL;
		left = names ? left_below(root, group, names) : UINT64_MAX;
		least = left < least ? left : least;
	}
	if (file)
		fclose(file);
	return least;
}

uint64_t available_memory(const char *root)
{
	uint64_t kib = 0, groups = left_in_groups(root), machine;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	if (!memory_read_number(path, "MemAvailable:", &kib))
		return groups == UINT64_MAX ? 0 : groups;
	machine = kib << 10;
	return machine < groups ? machine : groups;
}
