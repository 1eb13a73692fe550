/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pid namespaces. A thread has an id in its own namespace, which is what it
 * knows itself by, and in each one above it, up to the initial one, whose ids
 * BPF programs see. /proc shows those of the namespace that it was mounted in.
 */
#ifndef GOTRACE_TARGET_NAMESPACES_H
#define GOTRACE_TARGET_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

/* Whether a process of /proc is in the initial pid namespace; true if that cannot be told. */
bool namespace_is_initial(pid_t pid);

/*
 * What a thread of /proc calls itself: its id in its own namespace. The same id
 * if that cannot be read.
 */
uint32_t namespace_inner_tid(pid_t pid, uint32_t tid);

/*
 * Whether /proc is of the namespace that we are in: the ids in it are what
 * system calls take from us. -ENOTSUP with a line that says what to do.
 */
int namespace_check_proc(struct error *err);

/* Pure: the ids in the line NSpid of a /proc/PID/status, outermost first. Their number (0: no such line), the
 * first and the last of them. */
unsigned namespace_ids(const char *status, uint32_t *first, uint32_t *last);

#endif
