/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns of loops that serve several connections, one after the other, and wait for all of them by epoll: what
 * a thread computes between two calls for input or output. While a turn takes long, all other connections
 * wait, and no wait of the program shows that.
 */
#ifndef GOTRACE_ANALYSIS_TURNS_H
#define GOTRACE_ANALYSIS_TURNS_H

#include "analysis/state.h"

#define LONG_TURN_NS 10000000

/* The thread makes a system call with this stack, on this connection (1 + its index; 0 = on none): one for
 * input or output ends its turn. */
void turn_end(struct analysis *a, struct goroutine *g, uint32_t stack, uint32_t connection);
/* A CPU sample of the thread, of this row of the profile. */
void turn_sample(struct goroutine *g, uint32_t row);

#endif
