/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The functions of a Go program whose calls become user regions and tasks. functions.h is for C. */
#ifndef GOTRACE_TARGET_FUNCTIONS_GO_FUNCTIONS_H
#define GOTRACE_TARGET_FUNCTIONS_GO_FUNCTIONS_H

#include "target/functions/functions.h"
#include "target/target.h"

/* Like functions_plan(), but uses the program's own function table, which even stripped programs have. */
int go_functions_plan(const struct target *target, const struct function_want *wanted, unsigned n,
		      struct function_plan *plan, struct error *err);

/* --- go_requests.c: probes of the requests that a Go program serves and makes (--requests) --- */

/*
 * Plans the request probes (request_wanted()) among the plan's wanted functions. fd: the executable. Requests
 * that the program does not have are left out and noted in plan->report. Returns 0 or a negative errno.
 */
int go_requests_plan(const struct target *target, struct function_plan *plan, int fd, struct error *err);

#endif
