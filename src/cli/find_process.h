/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds processes by name or cgroup. */
#ifndef GOTRACE_CLI_FIND_PROCESS_H
#define GOTRACE_CLI_FIND_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

struct found_process {
	pid_t pid;
	uint64_t start; /* clock ticks since boot, because PIDs are reused */
};

enum { MAX_FOUND = 64 };

/*
 * Finds at most MAX_FOUND processes other than gotrace itself, newest first. comm: as in /proc/PID/comm,
 * which has 15 characters; if NULL, cgroup: a path with or without the leading /sys/fs/cgroup/. Returns the
 * number found, or a negative errno, for example if the cgroup does not exist.
 */
int find_processes(const char *comm, const char *cgroup, struct found_process found[MAX_FOUND],
		   struct error *err);
/* Returns the start time of a process in clock ticks since boot, or 0 if it is gone. */
uint64_t process_start(pid_t pid);

#endif
