/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests of net/http and grpc that are no tasks: what goroutines do from their first wait or system call
 * below a handler to the first one outside it, by handler.
 */
#ifndef GOTRACE_ANALYSIS_HANDLERS_H
#define GOTRACE_ANALYSIS_HANDLERS_H

#include "analysis/state.h"

/* Returns the function (a string) that handles the request that the stack is part of; 0 = none. */
uint32_t handler_look_up(struct analysis *a, uint32_t stack);
/* The same of a stack that was looked up, as those of waits and calls are; 0 of any other. */
uint32_t stack_handler(const struct analysis *a, uint32_t stack);
/* Call when g has entered an activity. */
void handler_enter(struct analysis *a, struct goroutine *g);
/* Adds an interval of g, ns long, in its present activity. */
void handler_spend(struct analysis *a, struct goroutine *g, uint64_t ns);
/* Returns the requests of a handler (a string); NULL if there are too many handlers, or none of this name. */
const struct handler_requests *handler_requests_of(const struct analysis *a, uint32_t func);
/* The share of `ns`, which requests waited with that stack, in the time of all requests of their handler:
 * many at a time wait longer, in all, than the program has CPUs. 1 if the stack is of no handler. */
double handler_share(const struct analysis *a, uint32_t stack, uint64_t ns);

#endif
