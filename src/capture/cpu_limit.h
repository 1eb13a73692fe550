/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The CPU time available to a process: its affinity, and the quotas of its cgroups (v1 and v2). */
#ifndef GOTRACE_CAPTURE_CPU_LIMIT_H
#define GOTRACE_CAPTURE_CPU_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cpu_limit {
	bool known;
	double cpus;           /* allowed by the affinity */
	double quota_cpus;     /* lowest quota of the cgroup and its ancestors; 0 = none */
	uint64_t period_ns;    /* of that quota */
	uint64_t throttled;    /* cumulative number of periods in which that quota was used up */
	uint64_t throttled_ns; /* cumulative, summed over the CPUs */
	uint64_t cpu_ns;       /* of the process, cumulative */
	uint64_t busy, all;    /* of the machine's CPUs, cumulative, in clock ticks */
};

/* What is read several times. If /proc hides other users' processes (hidepid), opening it needs a privilege.
 */
struct cpu_meter {
	pid_t pid;
	int stat, cgroup; /* files of /proc/PID; -1 = none */
};

void cpu_meter_open(struct cpu_meter *meter, pid_t pid);
/* A limit that cannot be read counts as none. known is false if the process does not exist. */
void cpu_meter_read(const struct cpu_meter *meter, struct cpu_limit *limit);
void cpu_meter_close(struct cpu_meter *meter);

#endif
