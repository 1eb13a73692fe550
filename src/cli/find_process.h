/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Processes by their name or their cgroup. */
#ifndef GOTRACE_CLI_FIND_PROCESS_H
#define GOTRACE_CLI_FIND_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

struct found_process {
	pid_t pid;
	uint64_t start; /* clock ticks since boot: PIDs recur */
};

enum { MAX_FOUND = 64 };

/*
 * The newest first, at most MAX_FOUND, without ourselves. comm: as in /proc/PID/comm, of which there are 15
 * characters; or, if it is NULL, cgroup: a path below /sys/fs/cgroup, with or without that. Returns how many;
 * a negative errno if there is no such cgroup.
 */
int find_processes(const char *comm, const char *cgroup, struct found_process found[MAX_FOUND],
		   struct error *err);
/* When a process was started; 0 if it is gone. */
uint64_t process_start(pid_t pid);

#endif
