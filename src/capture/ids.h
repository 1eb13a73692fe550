/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ids of processes in the initial pid namespace, which is where BPF programs
 * compare them. From within another one (a container) the kernel tells them to
 * nobody but its own programs.
 */
#ifndef GOTRACE_CAPTURE_IDS_H
#define GOTRACE_CAPTURE_IDS_H

#include <stdint.h>
#include <sys/types.h>

#include "capture/features.h"
#include "util/error.h"

/* What a process of our own pid namespace is called in the initial one. -ESRCH if there is none. */
int ids_outer(const struct features *features, pid_t pid, uint32_t *outer, struct error *err);

/* Our own pid namespace: how deep it lies below the initial one (0: it is that), and its inode. */
struct ids_space {
	uint32_t level, inode;
};
int ids_space(const struct features *features, struct ids_space *space, struct error *err);

/* Threads of our namespace that can be told from those outside of it, at once. */
#define IDS_MAX (1u << 16)

/* Puts every thread of our namespace into a map: what it is called in the initial one -> its id here. */
int ids_fill(const struct features *features, int map, struct error *err);

#endif
