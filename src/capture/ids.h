/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Process ids in the initial pid namespace, which BPF programs compare. In another namespace (a container),
 * the kernel reveals them only to BPF programs.
 */
#ifndef GOTRACE_CAPTURE_IDS_H
#define GOTRACE_CAPTURE_IDS_H

#include <stdint.h>
#include <sys/types.h>

#include "capture/features.h"
#include "util/error.h"

/* Translates an id of our own pid namespace to the initial one. Returns 0, or a negative errno (-ESRCH: no
 * such process). */
int ids_outer(const struct features *features, pid_t pid, uint32_t *outer, struct error *err);

/* Our own pid namespace: its depth below the initial one (0: it is the initial one), and its inode. */
struct ids_space {
	uint32_t level, inode;
};
int ids_space(const struct features *features, struct ids_space *space, struct error *err);

/* Maximum number of threads of our namespace that can be distinguished from outside ones at a time. */
#define IDS_MAX (1u << 16)

/* Fills a map with every thread of our namespace: id in the initial namespace -> id here. Returns 0 or a
 * negative errno. */
int ids_fill(const struct features *features, int map, struct error *err);

#endif
