/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Probes of the requests that a Go program serves and makes (--requests). */
#ifndef GOTRACE_NATIVE_GO_REQUESTS_H
#define GOTRACE_NATIVE_GO_REQUESTS_H

#include "native/functions.h"
#include "target/target.h"

/*
 * Plans the probes of those wanted functions of the plan that are probes of requests: their texts are names
 * of request_probe_name(). fd: the executable. What the program does not have is left out, and plan->report
 * says so. Returns 0 or a negative errno.
 */
int go_requests_plan(const struct target *target, struct function_plan *plan, int fd, struct error *err);

#endif
