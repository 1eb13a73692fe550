/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lease. Programs record hits only while user space is there to read them: until lease.until, which a
 * thread of gotrace renews several times a second. After that a hit returns at once and costs its thread
 * little more than the trap, whether gotrace is stopped, frozen, swapped out or starved. A full ring closes
 * the lease, too: the trace then shows one unobserved interval instead of scattered losses.
 *
 * Time is counted in kernel ticks: the JIT makes a single load of bpf_jiffies64 (Linux 5.6,
 * kernel/bpf/verifier.c), while reading the clock is a call and takes some 20 ns.
 */
#ifndef GOTRACE_LEASE_BPF_H
#define GOTRACE_LEASE_BPF_H

#include "bpf/count.bpf.h"
#include "bpf/record.h"
#include "bpf/regs.bpf.h"

/* Shared with user space (src/capture/lease.h). */
volatile struct lease lease;

/* Hits are timed in one of this many ticks. gotrace reports their mean as its cost. */
#define TIMED_TICKS 32u

/* Returns 0 if the lease is closed, the start time in ns if this hit is timed, and 1 otherwise. */
static __always_inline uint64_t begin_hit(void)
{
	uint64_t now = bpf_jiffies64();

	if (now >= lease.until) {
		count(HITS_UNWATCHED, 1);
		return 0;
	}
	return now % TIMED_TICKS ? 1 : bpf_ktime_get_ns();
}

/* Longer hits were preempted and are not counted. */
#define LONGEST_HIT_NS 20000u

static __always_inline void end_hit(uint64_t began, enum counter hits, enum counter ns)
{
	uint64_t took;

	if (began == 1)
		return;
	took = bpf_ktime_get_ns() - began;
	if (took > LONGEST_HIT_NS)
		return;
	count(hits, 1);
	count(ns, took);
}

/* A uprobe's program: HIT(name) { ... } with the registers in ctx. */
#define HIT(name)                                                                                            \
	static __always_inline void name##_hit(struct pt_regs *ctx);                                         \
                                                                                                             \
	SEC("?uprobe")                                                                                       \
	int name(struct pt_regs *ctx)                                                                        \
	{                                                                                                    \
		uint64_t began = begin_hit();                                                                \
                                                                                                             \
		if (!began)                                                                                  \
			return 0;                                                                            \
		name##_hit(ctx);                                                                             \
		end_hit(began, TIMED_PROBES, TIMED_PROBES_NS);                                               \
		return 0;                                                                                    \
	}                                                                                                    \
                                                                                                             \
	static __always_inline void name##_hit(struct pt_regs *ctx)

/* Called if a ring is full. The first program that finds it full records the time; a concurrent renewal
 * checks closed_ns. */
static __always_inline void close_lease(void)
{
	if (!lease.closed_ns)
		lease.closed_ns = bpf_ktime_get_ns();
	lease.until = 0;
}

/*
 * Attached to a function of gotrace itself: own_renew(ticks) or own_renew(ticks | LEASE_OPEN). An expired
 * lease stays closed until LEASE_OPEN opens it again, after user space has read the earlier records.
 */
SEC("?uprobe")
int renew(struct pt_regs *ctx)
{
	uint64_t now = bpf_jiffies64(), ticks = C_ARG(ctx, 0);

	if (ticks & LEASE_OPEN)
		lease.closed_ns = lease.plugin_ns = 0;
	else if (now >= lease.until)
		return 0;
	lease.until = now + (ticks & ~LEASE_OPEN);
	lease.renewed_ns = bpf_ktime_get_ns();
	if (lease.closed_ns || lease.plugin_ns)
		lease.until = 0;
	return 0;
}

#endif
