/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: how many rings, and how large. */
#ifndef GOTRACE_CAPTURE_RINGS_H
#define GOTRACE_CAPTURE_RINGS_H

#include <stdint.h>

enum { MAX_RINGS = 64 };

struct rings_plan {
	unsigned count; /* 1: one for all CPUs */
	unsigned shift; /* 1 << shift CPUs share one */
	uint32_t bytes; /* of each: a power of two of pages */
};

/* For a machine of so many CPUs. wanted: at most so many rings, 0 = as many as it needs; bytes: of all
 * together, 0 = as much as they need. */
struct rings_plan rings_plan(unsigned cpus, unsigned wanted, uint32_t bytes);

#endif
