/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads values that were not in memory at the time of the hit (VALUE_AWAY). */
#ifndef GOTRACE_RAWLOG_VALUES_SETTLE_H
#define GOTRACE_RAWLOG_VALUES_SETTLE_H

#include "rawlog/rawlog.h"

/* Maximum number of bytes that values_settle() writes. */
#define VALUES_BYTES (sizeof(struct raw_text) + 2 * TEXT_MAX)

/* Reads len bytes of the target. Returns false if it cannot. */
struct value_source {
	void *ctx;
	bool (*read)(void *ctx, uint64_t address, void *to, size_t len);
};

/*
 * Completes a record from the ring, of `size` bytes: reads the values that were not in memory. Writes a
 * raw_text for the log to `to`, which has VALUES_BYTES bytes. Returns the number of bytes written, or 0 if
 * the record is malformed.
 */
size_t values_settle(const struct raw_text *sent, size_t size, struct raw_text *to,
		     const struct value_source *source);

#endif
