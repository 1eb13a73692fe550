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

#include "util/error.h"

/* What a process of our own pid namespace is called in the initial one. -ESRCH if there is none. */
int ids_outer(pid_t pid, uint32_t *outer, struct error *err);

#endif
