/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Common to all readers of trace files: the first fault in a file, and its position. */
#ifndef GOTRACE_READ_H
#define GOTRACE_READ_H

#include <stdint.h>

#include "util/error.h"

/* Only the first fault is kept. */
struct fault {
	uint64_t offset; /* in the file */
	struct error error;
};

/* Records the fault and returns -EBADMSG. */
int fault_set(struct fault *fault, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
