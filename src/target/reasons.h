/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Texts of a release's reasons: from its binaries, or for older releases the later texts with the same
 * meaning.
 */
#ifndef GOTRACE_TARGET_REASONS_H
#define GOTRACE_TARGET_REASONS_H

#include <stdbool.h>

#include "target/layout.h"

/* Returns one of the runtime's tables (not REASON_PARK). Never NULL; may be empty. */
const struct reasons *release_reasons(const struct release *release, enum log_reason_table table);
/* Returns the number of a text in a table, or 0 if it is not there. In REASON_WAIT, 0 means no reason. */
unsigned reasons_index(const struct reasons *reasons, const char *text, size_t len);

/* --- park.c --- */

/*
 * Arguments of runtime.gopark that are not stored in the g: the callers pass them to the tracer together with
 * the wait reason.
 */

/*
 * Returns the block reason of the release's tracer for this wait reason (NULL: unknown), or "unspecified" if
 * there are several. Up to 1.21, returns only reasons for which the v1 tracer has an event.
 */
const char *park_block_reason(const char *wait_reason, unsigned go_minor);
/* Whether a goroutine with this wait reason is parked. With some reasons it keeps running for the runtime. */
bool park_is_parked(const char *wait_reason);

#endif
