/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What all programs use, Go's and those of threads: losses, reading the target's memory, sending. */
#ifndef GOTRACE_BASE_BPF_H
#define GOTRACE_BASE_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/pids.bpf.h"
#include "bpf/record.h"
#include "bpf/regs.bpf.h"
#include "bpf/ring.bpf.h"
#include "bpf/task.bpf.h"

/* Set by capture while the programs run. */
volatile uint32_t most_frames; /* of a stack: at most STACK_DEPTH */

/* Each place that can lose something counts it: indices of losses. */
enum loss {
	LOSS_RING_FULL,
	LOSS_STACK_FULL,
	LOSS_UNREADABLE,
	LOSS_SCRATCH_BUSY,
	LOSS_SAMPLE,
	HITS_SILENT, /* no loss: hits less records, for a hit need not make one */
	HITS_AGAIN,  /* no loss: a first program was left out, a second one was not (bpf/again.bpf.h) */
	LOSS_COUNT,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOSS_COUNT);
	__type(key, uint32_t);
	__type(value, uint64_t);
} losses SEC(".maps");

static __always_inline void count(uint32_t which, __s64 by)
{
	uint64_t *counter = bpf_map_lookup_elem(&losses, &which);

	if (counter)
		*counter += by;
}

static __always_inline void count_loss(uint32_t which)
{
	count(which, 1);
}

/* Reads one value of the target; false and counted if it cannot be read. */
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

/* The clock is read before the record is in a ring, and that before the change it tells can be seen by
 * another thread: the merge of several rings rests on it. */
static __always_inline void send_or_count(struct raw_record *rec, uint32_t loss)
{
	rec->tid = own_tid();
	rec->time = bpf_ktime_get_ns();
	if (put(rec, sizeof(*rec)))
		count_loss(loss);
}

static __always_inline void send(struct raw_record *rec)
{
	send_or_count(rec, LOSS_RING_FULL);
}

/* On a function of gotrace itself: its argument is the number. Puts it into the order of the ring. */
SEC("?uprobe")
int marker(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_MARKER, .arg = C_ARG(ctx, 0)};

	send(&rec);
	return 0;
}

#endif
