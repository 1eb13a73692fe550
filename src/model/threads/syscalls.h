/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* System calls: their names, and what a thread that sleeps in one waits for. */
#ifndef GOTRACE_MODEL_THREADS_SYSCALLS_H
#define GOTRACE_MODEL_THREADS_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "rawlog/rawlog.h"

#define SYSCALLS_KNOWN 470 /* of Linux 6.18, on x86-64 and on arm64 */

/* What is known of the calls of the log's architecture, found at the first use of a number. Starts zeroed. */
struct syscalls {
	struct syscall {
		char *name; /* NULL: none has the number */
		uint8_t class;
		bool resolved;
	} calls[SYSCALLS_KNOWN];
};

/* How a thread left its CPU, by SITE_SWITCH or struct log_thread. */
struct wait {
	uint64_t call; /* 1 + number of the system call, 0 = in none */
	uint64_t file; /* WAIT_* */
	uint8_t left;  /* enum left */
	uint8_t hint;  /* enum log_symbol_hint: the innermost in its stack */
	bool lock;     /* by its value, the futex is a lock's */
	bool worker;   /* of io_uring: a thread that never leaves the kernel */
};

/* Returns the file of a WAIT_*; 0 if it has none. */
static inline uint64_t wait_file(uint64_t wait)
{
	return WAIT_IS_FUTEX(wait) ? 0 : wait;
}

void syscalls_free(struct syscalls *calls);
/*
 * call: 1 + number on the architecture of the log's target. Returns NULL if it is 0, or not known; valid
 * until syscalls_free().
 */
const char *syscall_name(struct syscalls *calls, const struct log_target *target, uint64_t call);
/* Whether the call is sched_yield, which gives up the CPU voluntarily. */
bool syscall_yields(struct syscalls *calls, const struct log_target *target, uint64_t call);
/* Whether the call is restart_syscall: the rest of another one. */
bool syscall_restarts(struct syscalls *calls, const struct log_target *target, uint64_t call);
/*
 * Returns what the thread waits for, in words that the viewers' pages look for: "network" exactly; "sync"
 * anywhere (Go 1.26 src/internal/trace/traceviewer, cmd/trace/pprof.go). Returns NULL if there is no better
 * word than the call's name.
 */
const char *wait_reason(struct syscalls *calls, const struct log_target *target, const struct wait *wait);

#endif
