/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target/reads.h"
#include "util/clock.h"
#include "util/proc_stat.h"
#include "util/rights.h"

int watch_open(struct watch *watch, pid_t pid, int pidfd, struct error *err)
{
	watch->pid = pid;
	watch->memory = -1;
	watch->pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
	if (watch->pidfd < 0)
		return error_set(err, errno, "cannot watch PID %d: %s", (int)pid, strerror(errno));
	return 0;
}

static bool watch_stat(pid_t pid, struct proc_stat *stat)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return proc_stat_read(path, stat);
}

/* Returns the start address of the stack, which changes with each exec, or 0 if it cannot be read. */
static uint64_t start_of_stack(pid_t pid)
{
	struct proc_stat stat;

	return watch_stat(pid, &stat) ? stat.stack_start : 0;
}

void watch_program(struct watch *watch)
{
	struct rights before = rights_to_read(); /* only the owner may open the file */
	char path[64];

	watch->program = start_of_stack(watch->pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)watch->pid);
	if (watch->memory >= 0)
		close(watch->memory);
	watch->memory = open(path, O_RDONLY | O_CLOEXEC);
	rights_restore(&before);
}

/* The file refers to the memory it was opened on, which an exec releases. Reads then return 0 bytes
 * (fs/proc/base.c, mem_rw), while an unmapped address is an error. */
static bool has_lost_memory(const struct watch *watch)
{
	const struct target_reads *reads = target_reads();
	char byte;

	if (watch->memory >= 0 && reads)
		return reads->lost(reads->ctx, watch->memory);
	return watch->memory >= 0 && pread(watch->memory, &byte, 1, 0) == 0;
}

bool watch_wait(const struct watch *watch, int timeout_ms)
{
	struct pollfd fd = {.fd = watch->pidfd, .events = POLLIN};

	return poll(&fd, 1, timeout_ms) > 0;
}

bool watch_has_execed(const struct watch *watch)
{
	uint64_t program = watch->program ? start_of_stack(watch->pid) : 0;

	/* The kernel shows the address to privileged readers, and 0 to others. */
	if (program && program != watch->program)
		return true;
	return has_lost_memory(watch);
}

bool watch_has_memory(const struct watch *watch)
{
	struct proc_stat stat;

	return watch_stat(watch->pid, &stat) && stat.size;
}

uint64_t watch_cpu_ns(const struct watch *watch)
{
	return clock_process_ns(watch->pid);
}

void watch_close(struct watch *watch)
{
	if (watch->pidfd > 0)
		close(watch->pidfd);
	if (watch->memory >= 0)
		close(watch->memory);
	watch->pidfd = watch->memory = -1;
}
