/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the number and size of rings. */
#ifndef GOTRACE_CAPTURE_RINGS_H
#define GOTRACE_CAPTURE_RINGS_H

#include <stdint.h>

enum { MAX_RINGS = 64 };

struct rings_plan {
	unsigned count; /* 1: a single ring for all CPUs */
	unsigned shift; /* 1 << shift CPUs share one ring */
	uint32_t bytes; /* size of each: a power of two pages */
};

/* Plans rings for this many CPUs. wanted: at most this many rings, 0 = as many as the CPUs need; bytes: total
 * size, 0 = default. */
struct rings_plan rings_plan(unsigned cpus, unsigned wanted, uint32_t bytes);

#endif
