/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: a process's threads by /proc, for kernels without BTF, whose programs cannot go
 * through the list of tasks. It does not say who is on a CPU (those count as runnable), nor the frame
 * pointer, nor what is waited for.
 */
#ifndef GOTRACE_CAPTURE_PROC_THREADS_H
#define GOTRACE_CAPTURE_PROC_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "util/error.h"

/* Appends to *found, which is grown by realloc, behind its n threads. `proc` is "/proc". Returns how many
 * there are now; -ENOMEM. A process that is gone has none. */
int proc_threads_add(const char *proc, uint32_t tgid, struct raw_thread **found, int n);

/* Pure: what lines of /proc/PID/task/TID/stat and syscall tell. False: no such line. */
bool proc_threads_parse_stat(const char *line, long ticks_a_second, struct raw_thread *thread);
bool proc_threads_parse_syscall(const char *line, struct raw_thread *thread);

#endif
