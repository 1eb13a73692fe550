/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Budget for work on untrusted input: bytes of memory, counted where they are allocated, and CPU time of the
 * calling thread. Work whose budget is used up stops and keeps its results so far. A budget belongs to one
 * thread.
 */
#ifndef GOTRACE_UTIL_BUDGET_H
#define GOTRACE_UTIL_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
	uint64_t bytes;
	uint64_t cpu_ns; /* ns left; between budget_start and budget_stop, as of the start */
	uint64_t started_ns;
	uint32_t steps; /* since the clock was last read */
	bool spent;     /* the CPU time is used up */
};

/* Takes bytes from the budget. Returns false, and takes nothing, if fewer are left. */
bool budget_take(struct budget *budget, uint64_t bytes);
void budget_give(struct budget *budget, uint64_t bytes);

/* CPU time is charged between start and stop. */
void budget_start(struct budget *budget);
void budget_stop(struct budget *budget);
/*
 * To be called at each step of a long loop. Returns false when the CPU time is used up. Reads the clock only
 * once in many steps.
 */
bool budget_step(struct budget *budget);
/* Adds ns of CPU time, up to a total of `most` ns. */
void budget_earn(struct budget *budget, uint64_t ns, uint64_t most);

/* CPU time of the calling thread, ns. */
uint64_t budget_thread_ns(void);

#endif
