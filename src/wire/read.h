/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What all readers of trace files share: what is wrong with a file, and where. */
#ifndef GOTRACE_READ_H
#define GOTRACE_READ_H

#include <stdint.h>

#include "util/error.h"

/* The first fault; later ones do not replace it. */
struct fault {
	uint64_t offset; /* in the file */
	struct error error;
};

/* Records the fault and returns -EBADMSG. */
int fault_set(struct fault *fault, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
