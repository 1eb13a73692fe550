/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Events of wire v2: numbers, arguments, corresponding ops, and the release that introduced each event. */
#ifndef GOTRACE_TRACE_WIRE_EVENT_H
#define GOTRACE_TRACE_WIRE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire/event_arg.h"

/* Go 1.26 src/internal/trace/tracev2/events.go. Files contain these numbers: never change them. */
enum event_type {
	EV_EVENT_BATCH = 1,
	EV_STACKS = 2,
	EV_STACK = 3,
	EV_STRINGS = 4,
	EV_STRING = 5,
	EV_CPU_SAMPLES = 6,
	EV_CPU_SAMPLE = 7,
	EV_FREQUENCY = 8,
	EV_PROCS_CHANGE = 9,
	EV_PROC_START = 10,
	EV_PROC_STOP = 11,
	EV_PROC_STEAL = 12,
	EV_PROC_STATUS = 13,
	EV_GO_CREATE = 14,
	EV_GO_CREATE_SYSCALL = 15,
	EV_GO_START = 16,
	EV_GO_DESTROY = 17,
	EV_GO_DESTROY_SYSCALL = 18,
	EV_GO_STOP = 19,
	EV_GO_BLOCK = 20,
	EV_GO_UNBLOCK = 21,
	EV_GO_SYSCALL_BEGIN = 22,
	EV_GO_SYSCALL_END = 23,
	EV_GO_SYSCALL_END_BLOCKED = 24,
	EV_GO_STATUS = 25,
	EV_STW_BEGIN = 26,
	EV_STW_END = 27,
	EV_GC_ACTIVE = 28,
	EV_GC_BEGIN = 29,
	EV_GC_END = 30,
	EV_GC_SWEEP_ACTIVE = 31,
	EV_GC_SWEEP_BEGIN = 32,
	EV_GC_SWEEP_END = 33,
	EV_GC_MARK_ASSIST_ACTIVE = 34,
	EV_GC_MARK_ASSIST_BEGIN = 35,
	EV_GC_MARK_ASSIST_END = 36,
	EV_HEAP_ALLOC = 37,
	EV_HEAP_GOAL = 38,
	EV_GO_LABEL = 39,
	EV_USER_TASK_BEGIN = 40,
	EV_USER_TASK_END = 41,
	EV_USER_REGION_BEGIN = 42,
	EV_USER_REGION_END = 43,
	EV_USER_LOG = 44,
	EV_GO_SWITCH = 45,
	EV_GO_SWITCH_DESTROY = 46,
	EV_GO_CREATE_BLOCKED = 47,
	EV_GO_STATUS_STACK = 48,
	EV_EXPERIMENTAL_BATCH = 49,
	EV_SYNC = 50,
	EV_CLOCK_SNAPSHOT = 51,
	EV_END_OF_GENERATION = 52,
	EV_SPAN = 128,
	EV_SPAN_ALLOC = 129,
	EV_SPAN_FREE = 130,
	EV_HEAP_OBJECT = 131,
	EV_HEAP_OBJECT_ALLOC = 132,
	EV_HEAP_OBJECT_FREE = 133,
	EV_GO_STACK = 134,
	EV_GO_STACK_ALLOC = 135,
	EV_STACK_FREE = 136,
	EV_COUNT = 137,
};

/* Limits of the formats. */
enum {
	HEADER_SIZE = 16,
	MAX_BATCH_DATA = 65536,
	MAX_STRING_LEN = 1024,
	MAX_EVENT_ARGS = 4, /* without the time delta */
};

struct event_spec {
	const char *name;
	bool timed;    /* in event batches; its time delta does not count as an argument */
	uint8_t since; /* first format version that has it */
	uint8_t op;    /* enum op_kind; OP_NONE: no op corresponds */
	uint8_t nargs;
	struct event_arg args[MAX_EVENT_ARGS];
};

extern const struct event_spec event_specs[EV_COUNT]; /* name = NULL: there is no such event */

/* Returns NULL if there is no such event. */
static inline const struct event_spec *event_spec(unsigned type)
{
	return type < EV_COUNT && event_specs[type].name ? &event_specs[type] : NULL;
}

#endif
