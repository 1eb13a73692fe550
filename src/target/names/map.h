/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Maps an address of a process's code to a file and the offset in it. */
#ifndef GOTRACE_TARGET_NAMES_MAP_H
#define GOTRACE_TARGET_NAMES_MAP_H

#include <sys/types.h>

#include "code/elf/file.h"
#include "util/error.h"

struct native_map;

#define NO_MODULE UINT32_MAX

struct native_at {
	uint32_t module; /* unique number of the file; NO_MODULE: none */
	uint64_t offset; /* in the file */
};

/*
 * Opens every file that is mapped as code right away, because the process may exit at any time. Returns 0, or
 * a negative errno and sets *err, if there is no such process or it may not be inspected.
 */
int native_map_new(pid_t pid, struct native_map **map, struct error *err);
void native_map_free(struct native_map *map);
/* Reads the mappings again. If the process is gone, the known ones stay. */
int native_map_refresh(struct native_map *map);
/* Closes all files that the last refresh did not find mapped. A refresh itself keeps a few of them open. */
void native_map_drop_unmapped(struct native_map *map);
struct native_at native_map_find(const struct native_map *map, uint64_t address);
/* Returns NULL for NO_MODULE, or if the file is not mapped any more and has been closed. */
struct native_file *native_map_file(const struct native_map *map, uint32_t module);
/* The root directories of the target, -1 if it could not be opened, and of gotrace. Owned by the map. */
int native_map_root(const struct native_map *map);
int native_map_own_root(const struct native_map *map);

#endif
