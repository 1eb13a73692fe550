/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A goroutine as its bytes say, and its stack by frame pointers. Pure but for the reader it is given. */
#ifndef GOTRACE_TARGET_STACK_H
#define GOTRACE_TARGET_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

/* g.atomicstatus, Go 1.26 runtime/runtime2.go. */
enum g_status {
	G_STATUS_IDLE = 0,
	G_STATUS_RUNNABLE = 1,
	G_STATUS_RUNNING = 2,
	G_STATUS_SYSCALL = 3,
	G_STATUS_WAITING = 4,
	G_STATUS_DEAD = 6,
	G_STATUS_ENQUEUE =
		7, /* up to 1.7, while its stack is scanned: it waits, and is to be made runnable */
	G_STATUS_PREEMPTED = 9,
	G_STATUS_LEAKED = 10,
	G_STATUS_DEADEXTRA = 11,
	G_STATUS_SCAN = 0x1000, /* a bit */
};

struct g_view {
	uint64_t goid, m, startpc;
	uint64_t stack_lo, stack_hi;
	uint64_t sp, pc, bp; /* where it stopped: of g.sched, or of g.syscall* in a system call */
	uint64_t lr;         /* of g.sched, on processors that have a link register; else 0 */
	uint32_t status;     /* without the scan bit */
	uint8_t waitreason;  /* up to 1.10 the next two instead: a Go string */
	uint64_t wait_text, wait_len;
	bool assists;         /* has to help the garbage collector with marking */
	bool sync_safe_point; /* stopped in morestack */
};

/* How many bytes of a g are looked at. */
size_t g_view_size(const struct go_layout *layout);
/* bytes has g_view_size of them. */
void g_view_read(const struct go_layout *layout, const uint8_t *bytes, struct g_view *view);
/* Whether the goroutine has stopped, so that its stack can be walked from what it saved. */
bool g_view_has_stack(const struct g_view *view);
/* Whether it stands where it stood. */
bool g_view_same(const struct g_view *one, const struct g_view *two);

struct stack_memory {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
	/* Reads what is not in bytes; returns 0 or a negative errno. NULL: there is no more. */
	int (*read)(void *ctx, uint64_t address, void *to, size_t size);
	void *ctx;
};

/*
 * The return addresses, leaf first, as Go's tracer takes them (traceStack and
 * fpTracebackPCs, Go 1.26 runtime/tracestack.go). Returns how many (at most
 * STACK_DEPTH); flags gets RAW_STACK_BROKEN or RAW_STACK_CUT.
 */
unsigned stack_walk(const struct g_view *view, const struct stack_memory *memory, uint64_t pcs[STACK_DEPTH],
		    uint16_t *flags);

#endif
