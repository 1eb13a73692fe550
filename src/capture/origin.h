/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: notes in the log on where the trace is from: service, container, host, process. */
#ifndef GOTRACE_CAPTURE_ORIGIN_H
#define GOTRACE_CAPTURE_ORIGIN_H

#include <sys/types.h>

#include "util/resource.h"

struct capture;

/*
 * Reads the process's cgroup, the name of its executable, and two variables of its environment: nothing else
 * of that goes anywhere. What cannot be read is unknown. A program that gotrace starts must have been exec'd.
 */
void origin_read(struct otel_resource *origin, pid_t pid);
/* Adds the notes. Returns 0 or a negative errno. */
int origin_note(const struct otel_resource *origin, struct capture *capture);

#endif
