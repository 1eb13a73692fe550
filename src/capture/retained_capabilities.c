/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/retained_capabilities.h"

#include <linux/capability.h>

/* Separate from CAP_SYS_ADMIN since Linux 5.8. Older headers do not have them. */
enum { PERFMON = 38, BPF = 39, CHECKPOINT_RESTORE = 40 };

#define LINUX(major, minor) ((major) << 8 | (minor))
#define CAP(number)         (1ull << (number))

/*
 * Reading counters and listing threads uses bpf(2) on open descriptors. From Linux 5.19 on that needs no
 * privilege (kernel/bpf/syscall.c); before, it does unless unprivileged bpf(2) is enabled.
 */
static uint64_t for_maps(const struct tracing_mode *mode)
{
	if (mode->kernel >= LINUX(5, 19) || mode->bpf_for_all)
		return 0;
	return mode->kernel >= LINUX(5, 8) ? CAP(BPF) : CAP(CAP_SYS_ADMIN);
}

/* A uprobe_multi link needs only the program's descriptor. A perf event for a uprobe needs root. */
static uint64_t for_probes(const struct tracing_mode *mode)
{
	return mode->probes && (mode->reattaches || mode->plugins) && !mode->multi
		       ? CAP(CAP_SYS_ADMIN) | CAP(PERFMON)
		       : 0;
}

/*
 * The names of files and sockets that threads wait for are in /proc/PID/fd. Code that is mapped later is read
 * through /proc/PID/map_files (CAP_CHECKPOINT_RESTORE from Linux 5.9 on), which also holds for plugins of Go
 * programs. Stacks are read from memory.
 */
static uint64_t for_threads(const struct tracing_mode *mode)
{
	return CAP(CAP_SYS_PTRACE) | CAP(CAP_DAC_READ_SEARCH) |
	       (mode->kernel >= LINUX(5, 9) ? CAP(CHECKPOINT_RESTORE) : CAP(CAP_SYS_ADMIN));
}

uint64_t retained_capabilities(const struct tracing_mode *mode)
{
	uint64_t mask = for_maps(mode) | for_probes(mode);

	if (mode->threads || mode->plugins)
		mask |= for_threads(mode);
	if (mode->threads)
		return mask;
	/* Up to Go 1.4 each snapshot finds thread ids through /proc/PID/task/TID/syscall. */
	if (mode->go_minor <= 4)
		mask |= CAP(CAP_SYS_PTRACE) | CAP(CAP_DAC_READ_SEARCH);
	return mode->memory_open ? mask : mask | CAP(CAP_SYS_PTRACE);
}
