/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Events of wire v1 (`go 1.5` to `go 1.21`) and v0: numbers, arguments, and the formats that have them. */
#ifndef GOTRACE_TRACE_WIRE_EVENT_V1_H
#define GOTRACE_TRACE_WIRE_EVENT_V1_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/wire/event_arg.h"

/*
 * Numbers of Go 1.21 src/runtime/trace.go, and of Go 1.9 for the events that 1.10 renamed. Files contain
 * these numbers: never change them.
 */
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
	V1_GO_STOP = 16, /* blocks forever */
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
	V1_USER_LOG = 48, /* followed by the message: its length, then the bytes */
	V1_CPU_SAMPLE = 49,
	V1_EVENT_COUNT = 50
};

/* Limits of the formats, and the first byte of an event: type | count << V1_COUNT_SHIFT. */
enum {
	V1_HEADER_SIZE = 16,
	V0_HEADER_SIZE = 8,
	V1_COUNT_SHIFT = 6,
	V1_TYPE_MASK = 0x3f,
	V1_COUNT_LONG = 3,     /* count: the length of the arguments in bytes follows */
	V1_MAX_RECORD = 2048,  /* bytes of a record that has a length; enforced by readers from Go 1.23 on */
	V1_MAX_STRING = 1024,  /* limit of the runtime; readers accept 1e6 */
	V1_MAX_FRAMES = 128,   /* limit of the runtime; readers accept 1000 */
	V1_MAX_EVENT_ARGS = 4, /* of timed events; the leading values do not count */
};

/* How an event advances its goroutine's sequence number, from go 1.7 on (order_v1.c). */
enum v1_numbering {
	V1_UNORDERED,  /* has no sequence number and changes none */
	V1_CREATED,    /* number 0; the next is 1 */
	V1_FIRST,      /* number 1; the next is 2 */
	V1_NUMBERED,   /* argument 1 is the number; the next is one higher */
	V1_LOCAL,      /* follows any number, on the goroutine's last P; advances it by one */
	V1_UNNUMBERED, /* follows any number; does not advance it */
	V1_COUNTED,    /* argument 0 is the number, in the sequence of all collections */
};

struct event_v1_spec {
	const char *name;
	uint8_t since;   /* first format (enum wire_format) that has it */
	bool timed;      /* in batches: dt precedes the arguments; in go 1.5, the delta of seq precedes dt */
	uint8_t nargs;   /* after dt; for untimed records, the fixed part */
	uint8_t changed; /* first format with nargs arguments */
	uint8_t old_nargs; /* arguments in formats before `changed`; a stack is still the last one */
	uint8_t op;        /* enum op_kind: the closest op; OP_NONE: no op corresponds */
	uint8_t numbering; /* enum v1_numbering */
	bool futile;       /* blocks a goroutine, possibly after a futile wake-up */
	/* enum g_status before and after the event. before = 0: both are those of the op's transition. */
	uint8_t before, after;
	const char *reason; /* why the goroutine stops or blocks: the runtime's text from Go 1.22 on */
	struct event_arg args[V1_MAX_EVENT_ARGS];
};

/* Returns NULL if the format (enum wire_format: WIRE_V0, WIRE_GO15 ... WIRE_GO121) has no such event. */
const struct event_v1_spec *event_v1_spec(unsigned type, unsigned format);
/* Returns the number of arguments after dt in that format. For untimed records, see event_v1.c. */
unsigned event_v1_args(const struct event_v1_spec *spec, unsigned format);
/* Returns true if the event has a stack whenever it has arguments. */
bool event_v1_has_stack(const struct event_v1_spec *spec);
/* Status (enum g_status) of the goroutine before and after an event that changes it. */
unsigned event_v1_before(const struct event_v1_spec *spec);
unsigned event_v1_after(const struct event_v1_spec *spec);
/* Returns the event's name in the readers of that format, or "?" if there is no such event. */
const char *event_v1_name(unsigned type, unsigned format);

/*
 * Returns a stop-the-world's reason by go 1.21's numbers (Go 1.21 src/runtime/proc.go, stwReasonStrings; v2
 * has the same texts), or NULL from V1_STW_KINDS on. go 1.10 to go 1.19 have only reasons 1 and 2, numbered 0
 * and 1.
 */
#define V1_STW_KINDS 17u
const char *event_v1_stw(uint64_t kind);
/* Returns a stop-the-world's reason by the format's own numbers, or NULL if there is none. */
const char *event_v1_stw_kind(unsigned format, uint64_t kind);

#endif
