/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the cgroup (v1 or v2) that limits a process's CPU time. */
#ifndef GOTRACE_CAPTURE_QUOTA_H
#define GOTRACE_CAPTURE_QUOTA_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "rawlog/rawlog.h"

enum { QUOTA_PATH = 192 };

struct quota {
	int stat; /* the cgroup's cpu.stat; -1: no limit applies to the process */
	bool searched;
	unsigned version; /* of cgroups: 1 or 2 */
	uint64_t quota_us, period_us;
	char path[QUOTA_PATH]; /* of the cgroup, below the hierarchy's root */
};

/* Finds the nearest limit at or above the process's cgroup. Only the first call searches. */
void quota_open(struct quota *quota, pid_t pid);
/* Reads the limit and its throttling so far: all fields but time and len. Returns false if there is none. */
bool quota_read(const struct quota *quota, struct log_quota *to);
void quota_close(struct quota *quota);

/* Pure: extracts the path of the cgroup with the CPU controller from the lines of /proc/PID/cgroup. Returns
 * false if none is listed. */
bool quota_path_of(FILE *lines, bool v1, char path[QUOTA_PATH]);
/* Pure: parses a cpu.stat. */
void quota_parse_stat(const char *text, struct log_quota *to);

#endif
