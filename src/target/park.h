/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arguments of runtime.gopark that a g does not keep: the callers pass them to the tracer together with the
 * wait reason.
 */
#ifndef GOTRACE_TARGET_PARK_H
#define GOTRACE_TARGET_PARK_H

#include <stdbool.h>

/*
 * The block reason that goes with this wait reason (NULL: unknown) in the release's tracer; "unspecified" if
 * there are several. Up to 1.21, only reasons for which the v1 tracer has an event.
 */
const char *park_block_reason(const char *wait_reason, unsigned go_minor);
/*
 * Whether a goroutine that waits with this reason is parked. With some reasons it continues to run for the
 * runtime.
 */
bool park_is_parked(const char *wait_reason);

#endif
