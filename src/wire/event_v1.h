/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The events of wire v1 (`go 1.5` to `go 1.21`) and v0: numbers, arguments, and in which format each came. */
#ifndef GOTRACE_EVENT_V1_H
#define GOTRACE_EVENT_V1_H

#include <stdbool.h>
#include <stdint.h>

/* Go 1.21 src/runtime/trace.go, Go 1.9 for what 1.10 renamed. Stored in files: fixed numbers. */
enum event_v1_type {
	V1_BATCH = 1,
	V1_FREQUENCY = 2,
	V1_STACK = 3,
	V1_GOMAXPROCS = 4,
	V1_PROC_START = 5,
	V1_PROC_STOP = 6,
	V1_GC_START = 7,
	V1_GC_DONE = 8,
	V1_STW_START = 9, /* GCScanStart before go 1.10 */
	V1_STW_DONE = 10, /* GCScanDone */
	V1_GC_SWEEP_START = 11,
	V1_GC_SWEEP_DONE = 12,
	V1_GO_CREATE = 13,
	V1_GO_START = 14,
	V1_GO_END = 15,
	V1_GO_STOP = 16, /* blocks for ever */
	V1_GO_SCHED = 17,
	V1_GO_PREEMPT = 18,
	V1_GO_SLEEP = 19,
	V1_GO_BLOCK = 20,
	V1_GO_UNBLOCK = 21,
	V1_GO_BLOCK_SEND = 22,
	V1_GO_BLOCK_RECV = 23,
	V1_GO_BLOCK_SELECT = 24,
	V1_GO_BLOCK_SYNC = 25,
	V1_GO_BLOCK_COND = 26,
	V1_GO_BLOCK_NET = 27,
	V1_GO_SYSCALL = 28,
	V1_GO_SYS_EXIT = 29,
	V1_GO_SYS_BLOCK = 30,
	V1_GO_WAITING = 31,
	V1_GO_IN_SYSCALL = 32,
	V1_HEAP_ALLOC = 33,
	V1_HEAP_GOAL = 34,
	V1_TIMER_GOROUTINE = 35,
	V1_FUTILE_WAKEUP = 36,
	V1_STRING = 37,
	V1_GO_START_LOCAL = 38,
	V1_GO_UNBLOCK_LOCAL = 39,
	V1_GO_SYS_EXIT_LOCAL = 40,
	V1_GO_START_LABEL = 41,
	V1_GO_BLOCK_GC = 42,
	V1_GC_MARK_ASSIST_START = 43,
	V1_GC_MARK_ASSIST_DONE = 44,
	V1_USER_TASK_CREATE = 45,
	V1_USER_TASK_END = 46,
	V1_USER_REGION = 47,
	V1_USER_LOG = 48, /* the message follows the arguments: a length and so many bytes */
	V1_CPU_SAMPLE = 49,
	V1_EVENT_COUNT = 50
};

/* What the formats allow at most, and how an event begins: byte(type | inline << V1_COUNT_SHIFT). */
enum {
	V1_HEADER_SIZE = 16,
	V0_HEADER_SIZE = 8,
	V1_COUNT_SHIFT = 6,
	V1_TYPE_MASK = 0x3f,
	V1_COUNT_LONG = 3,     /* in the high bits: the length of the arguments in bytes follows */
	V1_MAX_RECORD = 2048,  /* bytes with a length before them: readers from Go 1.23 on */
	V1_MAX_STRING = 1024,  /* what the runtime writes; readers take 1e6 */
	V1_MAX_FRAMES = 128,   /* what the runtime writes; readers take 1000 */
	V1_MAX_EVENT_ARGS = 4, /* of timed events, without what leads them */
};

struct event_v1_spec {
	const char *name;
	uint8_t since;     /* the first format (enum wire_format) that has it */
	bool timed;        /* stands in batches: dt comes before the arguments, in go 1.5 after seq's delta */
	uint8_t nargs;     /* after dt; of records that are not timed, all but those that vary in number */
	uint8_t changed;   /* formats before this one have ... */
	uint8_t old_nargs; /* ... so many instead */
	uint8_t string;    /* bit i: argument i is a string's id (those events all came after strings) */
	bool stack;        /* the last argument is a stack's id, if there are arguments */
};

/* NULL if the format (enum wire_format: WIRE_V0, WIRE_GO15 ... WIRE_GO121) has no such event. */
const struct event_v1_spec *event_v1_spec(unsigned type, unsigned format);
/* Arguments after dt that the event has in that format; of a record that is not timed see event_v1.c. */
unsigned event_v1_args(const struct event_v1_spec *spec, unsigned format);
/* The name as the readers of that format have it; "?" if there is no such event. */
const char *event_v1_name(unsigned type, unsigned format);

/*
 * Why the world was stopped, as go 1.21 numbers it (Go 1.21 src/runtime/proc.go, stwReasonStrings; v2 has the
 * same texts). NULL from V1_STW_KINDS on. go 1.10 to go 1.19 have 1 and 2 only, as 0 and 1.
 */
#define V1_STW_KINDS 17u
const char *event_v1_stw(uint64_t kind);

#endif
