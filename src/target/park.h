/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arguments of runtime.gopark that are not stored in the g: the callers pass them to the tracer together with
 * the wait reason.
 */
#ifndef GOTRACE_TARGET_PARK_H
#define GOTRACE_TARGET_PARK_H

#include <stdbool.h>

/*
 * Returns the block reason of the release's tracer for this wait reason (NULL: unknown), or "unspecified" if
 * there are several. Up to 1.21, returns only reasons for which the v1 tracer has an event.
 */
const char *park_block_reason(const char *wait_reason, unsigned go_minor);
/* Whether a goroutine with this wait reason is parked. With some reasons it keeps running for the runtime. */
bool park_is_parked(const char *wait_reason);

#endif
