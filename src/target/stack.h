/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parses a goroutine's struct, and walks its stack by frame pointers. Pure except for the reader passed in.
 */
#ifndef GOTRACE_TARGET_STACK_H
#define GOTRACE_TARGET_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

/* g.atomicstatus, Go 1.26 runtime/runtime2.go. */
enum runtime_status {
	G_STATUS_IDLE = 0,
	G_STATUS_RUNNABLE = 1,
	G_STATUS_RUNNING = 2,
	G_STATUS_SYSCALL = 3,
	G_STATUS_WAITING = 4,
	G_STATUS_DEAD = 6,
	G_STATUS_ENQUEUE = 7, /* up to 1.7: stack being scanned; waits, and becomes runnable */
	G_STATUS_COPYSTACK = 8,
	G_STATUS_PREEMPTED = 9,
	G_STATUS_LEAKED = 10,
	G_STATUS_DEADEXTRA = 11,
	G_STATUS_SCAN = 0x1000, /* a bit */
};

struct g_view {
	uint64_t goid, m, startpc;
	uint64_t stack_lo, stack_hi;
	uint64_t sp, pc, bp; /* where it stopped: from g.sched, or g.syscall* in a system call */
	uint64_t lr;         /* of g.sched, on processors with a link register; else 0 */
	uint32_t status;     /* without the scan bit */
	uint8_t waitreason;  /* from 1.11 on; up to 1.10 wait_text and wait_len, a Go string */
	uint64_t wait_text, wait_len;
	bool assists;         /* in a mark assist */
	bool sync_safe_point; /* stopped in morestack */
};

/* Number of bytes of a g that g_view_read() needs. */
size_t g_view_size(const struct go_layout *layout);
/* Parses g_view_size() bytes of a g. */
void g_view_read(const struct go_layout *layout, const uint8_t *bytes, struct g_view *view);
/* Whether the goroutine has stopped, so that its stack can be walked from its saved registers. */
bool g_view_has_stack(const struct g_view *view);
/* Whether the goroutine did not run between the two views. */
bool g_view_same(const struct g_view *one, const struct g_view *two);

struct stack_memory {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
	/* Reads memory that is not in bytes. Returns 0 or a negative errno. NULL if there is no more. */
	int (*read)(void *ctx, uint64_t address, void *to, size_t size);
	void *ctx;
};

/*
 * Walks the return addresses, leaf first, as Go's tracer does (traceStack and fpTracebackPCs, Go 1.26
 * runtime/tracestack.go). Returns their number, at most STACK_DEPTH. Sets *flags to RAW_STACK_BROKEN,
 * RAW_STACK_CUT or 0.
 */
unsigned stack_walk(const struct g_view *view, const struct stack_memory *memory, uint64_t pcs[STACK_DEPTH],
		    uint16_t *flags);

#endif
