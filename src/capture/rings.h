/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the number and size of rings. */
#ifndef GOTRACE_CAPTURE_RINGS_H
#define GOTRACE_CAPTURE_RINGS_H

#include <stdint.h>

enum { MAX_RINGS = 64 };

struct rings_plan {
	unsigned count; /* 1: a single ring for all CPUs */
	unsigned shift; /* 1 << shift CPUs share one ring */
	unsigned cpus;  /* most CPUs that share one ring */
	uint32_t bytes; /* size of each: a power of two pages */
};

/*
 * Counts CPUs from 0 to the last one in `list`, the text of /sys/devices/system/cpu/present ("0-3,8-11"): the
 * CPUs of the machine, whether or not they are online, but not those that only a hypervisor could add.
 * Returns 0 if the text is not such a list.
 */
unsigned rings_count_cpus(const char *list);
/* Plans rings for this many CPUs. wanted: at most this many rings, 0 = as many as the CPUs need; bytes: total
 * size, 0 = default. */
struct rings_plan rings_plan(unsigned cpus, unsigned wanted, uint32_t bytes);
/* The draining thread runs before a ring is fuller than this: the rest is for rounds that begin late, and for
 * records that come faster than before. */
#define RING_FILL_TO_DRAIN 0.25

/* Returns at how many bytes in a ring its programs wake the draining thread. */
uint64_t rings_wake_at(const struct rings_plan *plan);
/* Returns for how long (ns) an idle ring need not be looked at: so long that the records fit into it if its
 * CPUs become busy meanwhile, at the latest until the draining thread has been woken. */
uint64_t rings_idle_ns(const struct rings_plan *plan);

#endif
