/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Helpers shared by all programs, for Go and for threads: loss counters, reading target memory, sending
 * records. */
#ifndef GOTRACE_BASE_BPF_H
#define GOTRACE_BASE_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lease.bpf.h"
#include "bpf/pids.bpf.h"
#include "bpf/record.h"
#include "bpf/regs.bpf.h"
#include "bpf/ring.bpf.h"
#include "bpf/task.bpf.h"

#define MAP_MMAPABLE (1u << 10) /* BPF_F_MMAPABLE: linux/bpf.h */

/* Set by capture while the programs run. */
volatile uint32_t most_frames; /* per stack, at most STACK_DEPTH */

static __always_inline void count_loss(uint32_t which)
{
	count(which, 1);
}

/* Reads one value from the target. On failure, counts a loss and returns false. */
static __always_inline bool read_user(void *to, uint32_t size, uint64_t address)
{
	if (!bpf_probe_read_user(to, size, (const void *)address))
		return true;
	count_loss(LOSS_UNREADABLE);
	return false;
}

static __always_inline uint64_t read_word(uint64_t address)
{
	uint64_t word = 0;

	read_user(&word, sizeof(word), address);
	return word;
}

/* Reads the clock before the record enters a ring, and so before another thread can see the change that it
 * records. Merging several rings by time relies on this. */
static __always_inline void send(struct raw_record *rec)
{
	rec->tid = own_tid();
	rec->time = bpf_ktime_get_ns();
	put(rec, sizeof(*rec));
}

/*
 * Attached to a function of gotrace itself; the argument is the marker's number. Puts the marker into the
 * ring in order, whether or not the lease is open.
 */
SEC("?uprobe")
int marker(struct pt_regs *ctx)
{
	struct raw_record rec = {
		.site = SITE_MARKER, .arg = C_ARG(ctx, 0), .tid = own_tid(), .time = bpf_ktime_get_ns()};

	output(&rec, sizeof(rec));
	return 0;
}

#endif
