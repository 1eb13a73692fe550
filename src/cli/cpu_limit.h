/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How much CPU time a process may have: its affinity, and the quotas of its cgroups (v1 and v2). */
#ifndef GOTRACE_CLI_CPU_LIMIT_H
#define GOTRACE_CLI_CPU_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cpu_limit {
	bool known;
	double cpus;           /* that the affinity allows */
	double quota_cpus;     /* the least of the cgroup and those above it; 0 = none */
	uint64_t period_ns;    /* of that quota */
	uint64_t throttled;    /* periods, ever, in which that quota was used up */
	uint64_t throttled_ns; /* ever, sum over the CPUs */
	uint64_t cpu_ns;       /* of the process, ever */
	uint64_t busy, all;    /* of the machine's CPUs, ever, in the kernel's ticks */
};

/* What cannot be read counts as no limit. known is false if the process is not there. */
void cpu_limit_read(pid_t pid, struct cpu_limit *limit);

#endif
