/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether the clocks of the CPUs agree: records of several CPUs are put in order by their times. The kernel
 * uses the TSC only while it sees that they do (kernel/time/clocksource.c, arch/x86/kernel/tsc_sync.c), but
 * another clock, or a hypervisor, may be off.
 */
#ifndef GOTRACE_CAPTURE_CLOCK_SKEW_H
#define GOTRACE_CAPTURE_CLOCK_SKEW_H

#include <stdint.h>

/* Merging is right where clocks differ by less (docs/costs.md, Large machines). */
#define LEAST_SKEW_NS 1000

struct clock_skew {
	unsigned cpus;   /* whose clocks were compared with that of the CPU this thread was on; 0 = none */
	unsigned first;  /* number of that CPU */
	unsigned cpu;    /* whose clock differs most */
	uint64_t ns;     /* by at least so much, ns: what the exchange itself can explain is not in it */
	uint64_t within; /* no clock differs by more, ns */
};

/* Reads the time on a CPU, ns. Tests give each CPU a clock of its own. */
typedef uint64_t (*cpu_clock)(unsigned cpu);

/* CLOCK_MONOTONIC, as bpf_ktime_get_ns() reads it. */
uint64_t clock_of_cpu(unsigned cpu);
/*
 * Compares the clocks of the CPUs that this thread may use, 64 at most, by messages that it exchanges with a
 * thread on each of the others: some 10 us on both. A CPU that does not answer in 20 ms is left out, and all
 * others when the budget is used up. Has no lasting effects.
 */
struct clock_skew clock_skew_measure(cpu_clock clock, uint64_t budget_ns);

#endif
