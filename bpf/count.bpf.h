/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counters: losses by cause, omissions, and the cost of hits. */
#ifndef GOTRACE_COUNT_BPF_H
#define GOTRACE_COUNT_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/record.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} counters SEC(".maps");

static __always_inline void count(uint32_t which, __s64 by)
{
	uint64_t *counter = bpf_map_lookup_elem(&counters, &which);

	if (counter)
		*counter += by;
}

#endif
