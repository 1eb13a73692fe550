/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/needs.h"

#include <linux/capability.h>

/* Linux 5.8 has them apart from CAP_SYS_ADMIN; headers of before do not know them. */
enum { PERFMON = 38, BPF = 39, CHECKPOINT_RESTORE = 40 };

#define LINUX(major, minor) ((major) << 8 | (minor))
#define CAP(number)         (1ull << (number))

/*
 * Counters are read, and lists of threads made, by bpf(2): with descriptors that are open that takes no
 * privilege from Linux 5.19 on (kernel/bpf/syscall.c); before, where bpf(2) is not for all, it does.
 */
static uint64_t for_maps(const struct needs *needs)
{
	if (needs->kernel >= LINUX(5, 19) || needs->bpf_for_all)
		return 0;
	return needs->kernel >= LINUX(5, 8) ? CAP(BPF) : CAP(CAP_SYS_ADMIN);
}

/* A link for many places takes the program's descriptor and no more; a perf event for a uprobe is root's. */
static uint64_t for_probes(const struct needs *needs)
{
	return needs->reattaches && !needs->multi ? CAP(CAP_SYS_ADMIN) | CAP(PERFMON) : 0;
}

/*
 * What threads wait for are files and sockets, whose names are behind /proc/PID/fd; code that is mapped later
 * is a file behind /proc/PID/map_files (CAP_CHECKPOINT_RESTORE from Linux 5.9 on); stacks are read where they
 * are.
 */
static uint64_t for_threads(const struct needs *needs)
{
	return CAP(CAP_SYS_PTRACE) | CAP(CAP_DAC_READ_SEARCH) |
	       (needs->kernel >= LINUX(5, 9) ? CAP(CHECKPOINT_RESTORE) : CAP(CAP_SYS_ADMIN));
}

uint64_t needs_capabilities(const struct needs *needs)
{
	uint64_t mask = for_maps(needs);

	if (needs->threads)
		return mask | for_threads(needs);
	mask |= for_probes(needs);
	/* Up to Go 1.4 threads' ids are found by /proc/PID/task/TID/syscall at each snapshot. */
	if (needs->go_minor <= 4)
		mask |= CAP(CAP_SYS_PTRACE) | CAP(CAP_DAC_READ_SEARCH);
	return needs->memory_open ? mask : mask | CAP(CAP_SYS_PTRACE);
}
