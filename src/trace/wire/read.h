/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The first fault in a trace file, and its position. Used by all readers of trace files. */
#ifndef GOTRACE_TRACE_WIRE_READ_H
#define GOTRACE_TRACE_WIRE_READ_H

#include <stdint.h>

#include "util/error.h"

/* Holds only the first fault that is set. */
struct fault {
	uint64_t offset; /* in the file */
	struct error error;
};

/* Records the fault, unless there is an earlier one. Returns -EBADMSG. */
int fault_set(struct fault *fault, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
