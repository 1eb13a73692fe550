/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* System calls: their names, and what a thread that sleeps in one waits for. */
#ifndef GOTRACE_MODEL_SYSCALLS_H
#define GOTRACE_MODEL_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "rawlog/rawlog.h"

/* How a thread left its CPU, by SITE_SWITCH or struct log_thread. */
struct wait {
	uint64_t call; /* 1 + number, 0 = in none */
	uint64_t file; /* WAIT_* */
	uint8_t left;  /* enum left */
	uint8_t hint;  /* enum log_symbol_hint: the innermost one of its stack */
};

/* The file of a WAIT_*, if it has one. */
static inline uint64_t wait_file(uint64_t wait)
{
	return WAIT_KIND(wait) == FILE_FUTEX ? 0 : wait;
}

/* Numbers are those of the architecture that the log's target has. NULL: 0, or a number that this table does
 * not have. `call` is 1 + number. */
const char *syscall_name(const struct log_target *target, uint64_t call);
bool syscall_yields(const struct log_target *target,
		    uint64_t call); /* sched_yield: it gives its CPU up of its own will */
/*
 * What it waits for, in words that the viewers' pages look for: "network" exactly; "sync" somewhere in it
 * (Go 1.26 src/internal/trace/traceviewer, cmd/trace/pprof.go). NULL: no better word than the call's name.
 */
const char *wait_reason(const struct log_target *target, const struct wait *wait);

#endif
