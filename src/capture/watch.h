/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: is it still the same process with the same program? */
#ifndef GOTRACE_CAPTURE_WATCH_H
#define GOTRACE_CAPTURE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

struct watch {
	pid_t pid;
	int pidfd;
	int memory; /* of the program, /proc/PID/mem; -1: may not be opened, or the program is not known yet
		     */
	uint64_t program; /* the address of its stack's start: exec makes a new one. 0 = not known yet */
};

int watch_open(struct watch *watch, pid_t pid, struct error *err);
/* From now on a change of the program counts. */
void watch_program(struct watch *watch);
/* Waits until the process exits, timeout_ms at most; true if it has exited. */
bool watch_wait(const struct watch *watch, int timeout_ms);
/* True if the process has replaced its program since watch_program. */
bool watch_has_execed(const struct watch *watch);
/* CPU time of the process so far, ns; 0 if it is gone. */
uint64_t watch_cpu_ns(const struct watch *watch);
void watch_close(struct watch *watch);

#endif
