/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counters: losses by cause, omissions, and the cost of hits. */
#ifndef GOTRACE_COUNT_BPF_H
#define GOTRACE_COUNT_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/record.h"

/* One value with all of them: user space reads it with one call, many times a second. */
struct counts {
	uint64_t n[COUNTERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct counts);
} counters SEC(".maps");

/* which: enum counter, a constant */
static __always_inline void count(uint32_t which, __s64 by)
{
	uint32_t key = 0;
	struct counts *counts = bpf_map_lookup_elem(&counters, &key);

	if (counts && which < COUNTERS)
		counts->n[which] += by;
}

#endif
