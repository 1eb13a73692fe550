/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The CPU time that a process may use and has used: its affinity, and the quotas of its cgroups (v1 and v2).
 */
#ifndef GOTRACE_CAPTURE_CPU_LIMIT_H
#define GOTRACE_CAPTURE_CPU_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_TOP "/sys/fs/cgroup"

enum { CGROUP_TEXT = 192 }; /* longer paths are cut */

struct cpu_limit {
	bool known;
	double cpus;       /* allowed by the affinity */
	double quota_cpus; /* lowest quota of the cgroup and its ancestors; 0 = none */
	uint64_t quota_us, period_ns;
	unsigned quota_version;         /* of cgroups: 1 or 2 */
	char quota_cgroup[CGROUP_TEXT]; /* which of them: its path below the hierarchy's root */
	uint64_t periods;               /* cumulative number of its periods */
	uint64_t throttled;             /* and of those in which the quota was used up */
	uint64_t throttled_ns;          /* cumulative, summed over the CPUs */
	uint64_t cpu_ns;                /* of the process, cumulative */
	uint64_t kernel_ns;             /* of that, in the kernel */
	uint64_t faults;                /* page faults of the process, cumulative */
	uint64_t group_cpu_ns;          /* of its own cgroup, cumulative; 0 = unknown */
	uint64_t group_id;              /* hash of that cgroup's path; 0 = none */
	uint64_t quota_id;              /* the same of the cgroup whose quota is the lowest */
	uint64_t rss_bytes;             /* physical memory of the process */
	/* Of the machine's CPUs, cumulative, in clock ticks. A hypervisor steals time to run others. */
	uint64_t busy, stolen, all;
};

/*
 * Files of a process that are read several times. If /proc hides other users' processes (hidepid), opening
 * them needs a privilege.
 */
struct cpu_meter {
	pid_t pid;
	int stat, cgroup; /* files of /proc/PID; -1 = none */
};

void cpu_meter_open(struct cpu_meter *meter, pid_t pid);
/* A limit that cannot be read counts as none. known is false if the process does not exist. */
void cpu_meter_read(const struct cpu_meter *meter, struct cpu_limit *limit);
void cpu_meter_close(struct cpu_meter *meter);
/* Takes what a cgroup says that a line of /proc/PID/cgroup names, and its ancestors. top: CGROUP_TOP. Changes
 * the line. */
void cpu_limit_take_cgroup(struct cpu_limit *limit, const char *top, char *line);

/*
 * Returns by how much a cumulative figure has grown. Each cgroup has figures of its own: if the second value
 * is another cgroup's (same_group is false), or less than the first, the growth is not known and counts as 0.
 */
static inline uint64_t cpu_figure_grown(uint64_t before, uint64_t after, bool same_group)
{
	return same_group && after > before ? after - before : 0;
}

#endif
