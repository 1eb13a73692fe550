/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: what the log contains about the CPU time of a Go program's threads, in addition to
 * the records of bpf/off_cpu.bpf.h.
 */
#ifndef GOTRACE_CAPTURE_OFF_CPU_H
#define GOTRACE_CAPTURE_OFF_CPU_H

#include "capture/state.h"

/*
 * Writes LOG_THREAD_TIMES, LOG_QUOTA and, for each thread that has no CPU now, a record of the time until
 * now. Called at the start, at boundaries and at the end. Does nothing unless off-CPU times were requested.
 * Returns 0, or a negative errno from the log.
 */
int off_cpu_log(struct capture *capture);

/*
 * Makes the programs note which threads have no CPU now. Called once they are attached. If the kernel has no
 * iterators, or refuses them, the first interval of such a thread stays unknown.
 */
void off_cpu_find_waiting(struct capture *capture);

/* Unmaps what off_cpu_log() has mapped. */
void off_cpu_close(struct capture *capture);

/* Stores for how long the threads of the process have waited for a CPU since they began, in all, ns. Returns
 * false if that is not known: there are too many of them. */
bool off_cpu_waited(pid_t pid, uint64_t *ns);

#endif
