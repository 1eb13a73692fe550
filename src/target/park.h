/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the callers of runtime.gopark tell the tracer beside the wait reason, which is all that a g keeps. */
#ifndef GOTRACE_TARGET_PARK_H
#define GOTRACE_TARGET_PARK_H

#include <stdbool.h>

/*
 * The reason that the tracer of a release is given with this wait reason (NULL:
 * of no known one); "unspecified" if there are several. Up to 1.21 only those
 * that the v1 tracer has an event for.
 */
const char *park_block_reason(const char *wait_reason, unsigned go_minor);
/* Whether goroutines that wait with this reason are parked; with others they run on for the runtime's sake.
 */
bool park_is_parked(const char *wait_reason);

#endif
