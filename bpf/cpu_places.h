/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where variables are in the block of memory that the kernel has for each CPU. Include bpf/record.h first. */
#ifndef GOTRACE_CPU_PLACES_H
#define GOTRACE_CPU_PLACES_H

struct cpu_places {             /* bytes from the block's beginning; 0 = this kernel does not have it */
	uint32_t run_queue;     /* runqueues */
	uint32_t preempt_count; /* __preempt_count */
	uint32_t hot;           /* pcpu_hot: from Linux 6.2 to 6.14 the count is in there */
	uint32_t hrtimers;      /* hrtimer_bases */
	uint32_t wheels;        /* timer_bases */
	uint32_t network;       /* softnet_data */
};

#endif
