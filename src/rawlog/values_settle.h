/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Values that were not in memory when the hit wanted them (VALUE_AWAY): they are read later. */
#ifndef GOTRACE_RAWLOG_VALUES_SETTLE_H
#define GOTRACE_RAWLOG_VALUES_SETTLE_H

#include "rawlog/rawlog.h"

/* Most bytes that values_settle() writes. */
#define VALUES_BYTES (sizeof(struct raw_text) + 2 * TEXT_MAX)

/* Reads len bytes of the target. False if it cannot. */
struct value_source {
	void *ctx;
	bool (*read)(void *ctx, uint64_t address, void *to, size_t len);
};

/*
 * Takes a record with values from the ring, of `size` bytes, and reads those that were not in memory. Writes
 * a raw_text for the log to `to`, VALUES_BYTES in size. Returns the bytes written, or 0 if the record is
 * malformed.
 */
size_t values_settle(const struct raw_text *sent, size_t size, struct raw_text *to,
		     const struct value_source *source);

#endif
