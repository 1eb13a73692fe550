/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: a process's threads from /proc, for kernels without BTF, whose programs cannot
 * iterate over tasks. /proc does not show which threads are on a CPU (those count as runnable), nor the frame
 * pointer, nor what a thread waits for.
 */
#ifndef GOTRACE_CAPTURE_PROC_THREADS_H
#define GOTRACE_CAPTURE_PROC_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "util/error.h"

/* Appends the threads of a process to *found, an array of n threads, which it grows by realloc. `proc` is
 * "/proc". Returns the new number of threads, or -ENOMEM. A process that is gone has none. */
int proc_threads_add(const char *proc, uint32_t tgid, struct raw_thread **found, int n);

/* Pure: parse a line of /proc/PID/task/TID/stat or syscall. False if it is malformed. */
bool proc_threads_parse_stat(const char *line, long ticks_a_second, struct raw_thread *thread);
bool proc_threads_parse_syscall(const char *line, struct raw_thread *thread);

#endif
