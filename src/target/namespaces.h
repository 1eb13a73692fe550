/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pid namespaces. A thread has an id in its own namespace, which it sees itself, and one in each ancestor
 * namespace. BPF programs see the ids of the initial namespace. /proc shows the ids of the namespace in which
 * it was mounted.
 */
#ifndef GOTRACE_TARGET_NAMESPACES_H
#define GOTRACE_TARGET_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

/* Whether a process in /proc is in the initial pid namespace; true if unknown. */
bool namespace_is_initial(pid_t pid);

/* Returns a thread's id in its own namespace, or tid if that cannot be read. pid and tid are /proc's. */
uint32_t namespace_inner_tid(pid_t pid, uint32_t tid);

/*
 * Checks that /proc belongs to our own pid namespace, so that its ids are valid in our system calls. Returns
 * 0, or -ENOTSUP and sets *err to what to do.
 */
int namespace_check_proc(struct error *err);

/*
 * Pure: parses the line NSpid of /proc/PID/status, which lists the outermost id first. Returns the number of
 * ids (0: no such line), and stores the first and the last.
 */
unsigned namespace_ids(const char *status, uint32_t *first, uint32_t *last);

#endif
