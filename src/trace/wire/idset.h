/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A set of mostly consecutive ids, one bit each. Ids are never removed. */
#ifndef GOTRACE_TRACE_WIRE_IDSET_H
#define GOTRACE_TRACE_WIRE_IDSET_H

#include <stddef.h>
#include <stdint.h>

#include "util/map64.h"

enum { IDSET_WORDS = 8 };

struct idset {
	struct map64 pages; /* id / (64 * IDSET_WORDS) + 1 -> index in bits */
	uint64_t (*bits)[IDSET_WORDS];
	size_t npages, capacity;
};

/* Adds the id. Returns 1 if it was present, 0 if it is new, or -ENOMEM. */
int idset_add(struct idset *set, uint64_t id);
void idset_free(struct idset *set);

#endif
