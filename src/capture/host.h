/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: notes in the log on the machine: its CPUs, and who used them during the trace. */
#ifndef GOTRACE_CAPTURE_HOST_H
#define GOTRACE_CAPTURE_HOST_H

#include "capture/cpu_limit.h"

struct capture;
struct cpu_user;

struct host {
	struct cpu_meter meter;
	struct cpu_limit before;
	struct cpu_user *users; /* at the beginning, by PID; NULL = none */
	size_t nusers;
	uint64_t own_ticks; /* CPU time of gotrace and its workers at the beginning */
	uint64_t waited;    /* off_cpu_waited() at the beginning, ns */
	bool waited_known;
	uint64_t began; /* ns; 0 = not begun */
	uint64_t looked, stopped_ns;
	bool stopped; /* when it was looked at last */
};

/* Reads the figures at the beginning. */
void host_begin(struct host *host, pid_t pid);
/* Looks whether the process is stopped by a signal or a debugger, if it has not just looked. Call it often.
 */
void host_look(struct host *host);
/* Adds notes on what was used since, behind the last records. end: of the recording, ns. Returns 0 or a
 * negative errno. */
int host_end(struct host *host, struct capture *capture, uint64_t end);
void host_free(struct host *host);

#endif
