/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: detects that the process has exited or executed another program. */
#ifndef GOTRACE_CAPTURE_WATCH_H
#define GOTRACE_CAPTURE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

struct watch {
	pid_t pid;
	int pidfd;
	int memory; /* /proc/PID/mem of the program; -1: may not be opened, or the program is not known yet */
	uint64_t program; /* the start address of its stack: an exec changes it. 0 = not known yet */
};

/* Watches a process. Duplicates its pidfd. Returns 0 or a negative errno. */
int watch_open(struct watch *watch, pid_t pid, int pidfd, struct error *err);
/* Remembers the present program; later changes are detected. */
void watch_program(struct watch *watch);
/* Waits at most timeout_ms for the process to exit. Returns true if it has. */
bool watch_wait(const struct watch *watch, int timeout_ms);
/* Returns true if the process has replaced its program since watch_program(). */
bool watch_has_execed(const struct watch *watch);
/* Returns whether it has memory: a process that exits loses that shortly before it is gone. */
bool watch_has_memory(const struct watch *watch);
/* Returns the total CPU time of the process in ns, or 0 if it is gone. */
uint64_t watch_cpu_ns(const struct watch *watch);
void watch_close(struct watch *watch);

#endif
