/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: values of calls' arguments (bpf/values.bpf.h). */
#ifndef GOTRACE_CAPTURE_VALUES_H
#define GOTRACE_CAPTURE_VALUES_H

#include <sys/types.h>

#include "capture/bpf.h"
#include "native/functions.h"

/* Before the object is loaded: makes space for n value_rules. *reads is a variable of the programs. */
void values_prepare(const struct bpf *bpf, unsigned n, bool *reads);
/* Passes the plan's rules to the programs. Call it before the plan's probes are attached. */
int values_pass(const struct bpf *bpf, const struct function_plan *plan, struct error *err);

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
