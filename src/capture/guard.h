/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef GOTRACE_CAPTURE_GUARD_H
#define GOTRACE_CAPTURE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "rawlog/rawlog.h"

/* Callbacks of the control thread. It calls must_end and is_held_up at least with each renewal of the lease.
 */
struct capture_guard {
	/* Called once in that thread, for example to drop privileges. May be NULL. */
	void (*begin)(void *ctx);
	/* Returns a reason to end recording now (enum log_end_reason), or 0. */
	int (*must_end)(void *ctx);
	/* Returns when must_end is to be called at the latest (CLOCK_MONOTONIC, ns); 0 = with the next
	 * renewal. */
	uint64_t (*due)(void *ctx);
	/* Returns true if a process that consumes the log is stopped. Nothing is recorded then. */
	bool (*is_held_up)(void *ctx);
	void *ctx;
};

#endif
