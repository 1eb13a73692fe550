/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Probes of the requests that a Go program serves and makes (--requests). */
#ifndef GOTRACE_TARGET_FUNCTIONS_GO_REQUESTS_H
#define GOTRACE_TARGET_FUNCTIONS_GO_REQUESTS_H

#include "target/functions/functions.h"
#include "target/target.h"

/*
 * Plans the request probes (request_wanted()) among the plan's wanted functions. fd: the executable. Requests
 * that the program does not have are left out and noted in plan->report. Returns 0 or a negative errno.
 */
int go_requests_plan(const struct target *target, struct function_plan *plan, int fd, struct error *err);

#endif
