/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the level of detail of threads, like probe_set.h for Go programs. */
#ifndef GOTRACE_CAPTURE_THREAD_DETAIL_H
#define GOTRACE_CAPTURE_THREAD_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/state.h"
#include "util/error.h"

/* Initializes the governor. Call it once the cost of a hit is known. LEVEL_STARTS_ONLY is full detail for
 * threads. */
void thread_detail_begin(struct capture *capture);
/* Returns true if system calls are recorded now. */
bool thread_detail_has_calls(const struct capture *capture);
/* Adapts the level of detail to the cost. Returns 0 or a negative errno. */
int thread_detail_adapt(struct capture *capture, uint64_t now, struct error *err);
/* Implement note_flags and level_text of struct backend. */
uint32_t thread_detail_flags(const struct capture *capture);
const char *thread_detail_text(enum detail_level level);

/* --- proc_threads.c --- */

/*
 * Private to the module: a process's threads from /proc, for kernels without BTF, whose programs cannot
 * iterate over tasks. /proc does not show which threads are on a CPU (those count as runnable), nor the frame
 * pointer, nor what a thread waits for.
 */

/* Appends the threads of a process to *found, an array of n threads, which it grows by realloc. `proc` is
 * "/proc". Returns the new number of threads, or -ENOMEM. A process that is gone has none. */
int proc_threads_add(const char *proc, uint32_t tgid, struct raw_thread **found, int n);

/* Pure: parse a line of /proc/PID/task/TID/stat or syscall. False if it is malformed. */
bool proc_threads_parse_stat(const char *line, long ticks_a_second, struct raw_thread *thread);
bool proc_threads_parse_syscall(const char *line, struct raw_thread *thread);

#endif
