/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Offsets of variables in the kernel's per-CPU memory. Include bpf/record.h first. */
#ifndef GOTRACE_CPU_PLACES_H
#define GOTRACE_CPU_PLACES_H

/* Bytes from the start of the per-CPU area; 0 = not in this kernel. */
struct cpu_places {
	uint32_t run_queue;     /* runqueues */
	uint32_t preempt_count; /* __preempt_count */
	uint32_t hot;           /* pcpu_hot, which holds the count from Linux 6.2 to 6.14 */
	uint32_t hrtimers;      /* hrtimer_bases */
	uint32_t wheels;        /* timer_bases */
	uint32_t network;       /* softnet_data */
};

#endif
