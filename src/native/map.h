/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The code that a process has mapped: which file an address is in, and where in it. */
#ifndef GOTRACE_NATIVE_MAP_H
#define GOTRACE_NATIVE_MAP_H

#include <sys/types.h>

#include "native/file.h"
#include "util/error.h"

struct native_map;

#define NO_MODULE UINT32_MAX

struct native_at {
	uint32_t module; /* number of the file, the same as long as the map lives; NO_MODULE: in none */
	uint64_t offset; /* in the file */
};

/* Opens every file that is mapped as code, for a process may end at any time. Fails if there is no such
 * process, or it may not be looked at. */
int native_map_new(pid_t pid, struct native_map **map, struct error *err);
void native_map_free(struct native_map *map);
/* Reads the mappings anew. When the process is gone those known before stay. */
int native_map_refresh(struct native_map *map);
struct native_at native_map_find(const struct native_map *map, uint64_t address);
struct native_file *native_map_file(const struct native_map *map, uint32_t module);
/* The target's root directory, -1 if it could not be opened; and ours. Owned by the map. */
int native_map_root(const struct native_map *map);
int native_map_own_root(const struct native_map *map);

#endif
