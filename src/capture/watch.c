/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/rights.h"

int watch_open(struct watch *watch, pid_t pid, struct error *err)
{
	watch->pid = pid;
	watch->memory = -1;
	watch->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* Linux 5.3; glibc's wrapper is of 2.36 */
	if (watch->pidfd < 0)
		return error_set(err, errno, "cannot watch PID %d: %s", (int)pid, strerror(errno));
	return 0;
}

/* Field 28 of /proc/PID/stat, startstack; randomised anew by each exec. 0 if it cannot be read. */
static uint64_t start_of_stack(pid_t pid)
{
	char path[64], text[2048];
	ssize_t n = -1;
	char *at;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strrchr(text, ')'); /* behind the name, which may hold anything: field 2 */
	for (int field = 2; at && field < 28; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

void watch_program(struct watch *watch)
{
	struct rights before = rights_to_read(); /* the file is its owner's alone */
	char path[64];

	watch->program = start_of_stack(watch->pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)watch->pid);
	watch->memory = open(path, O_RDONLY | O_CLOEXEC);
	rights_restore(&before);
}

/* The file stays that of the memory it was opened on, which goes with an exec: then nothing is there
 * (fs/proc/base.c, mem_rw), while an address that is not mapped is an error. */
static bool has_lost_memory(const struct watch *watch)
{
	char byte;

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

	/* The kernel shows the address to those with privilege, or 0. */
	if (program && program != watch->program)
		return true;
	return has_lost_memory(watch);
}

uint64_t watch_cpu_ns(const struct watch *watch)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(watch->pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void watch_close(struct watch *watch)
{
	if (watch->pidfd > 0)
		close(watch->pidfd);
	if (watch->memory >= 0)
		close(watch->memory);
	watch->pidfd = watch->memory = -1;
}
