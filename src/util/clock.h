/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Clocks, in nanoseconds. */
#ifndef GOTRACE_UTIL_CLOCK_H
#define GOTRACE_UTIL_CLOCK_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

uint64_t clock_ns(clockid_t clock);
/* CLOCK_MONOTONIC: the clock of BPF programs and of all times in the raw log. */
uint64_t now_ns(void);
/* CPU time used so far by all threads of a process; 0 if it cannot be read. */
uint64_t clock_process_ns(pid_t pid);

#endif
