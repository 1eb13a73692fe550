/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the formats differ: Go 1.5.4, 1.7.6, 1.8.7, 1.9.7, 1.10.8, 1.11.13,
 * 1.19.13 and 1.21.13 src/internal/trace/parser.go; for v0 the runtime of
 * early 2015, whose events are those of 1.5 without sequence numbers.
 *
 * What leads the arguments of a timed event: v0 and from go 1.7 on dt; in go
 * 1.5 seq's delta and dt. The count in the first byte leaves out one of them.
 * Records that are not timed: Batch p, ticks (go 1.5: p, seq, ticks);
 * Frequency and TimerGoroutine one value (go 1.5: and a 0); String id, length,
 * bytes; Stack id, count, and so many frames of pc, function, file, line
 * (before go 1.7: of pc alone).
 */
#include "wire/event_v1.h"

#include <stddef.h>

#include "wire/wire.h"

#define ARG(i) (1u << (i))

#define RECORD(text, version, n)                                                                             \
	{                                                                                                    \
		.name = text, .since = version, .nargs = n                                                   \
	}
/* The last argument is a stack. */
#define STACKED(text, version, n)                                                                            \
	{                                                                                                    \
		.name = text, .since = version, .timed = true, .nargs = n, .stack = true                     \
	}
#define PLAIN(text, version, n)                                                                              \
	{                                                                                                    \
		.name = text, .since = version, .timed = true, .nargs = n                                    \
	}
/* Had n_before arguments in formats before `when`. */
#define CHANGED(text, version, n, with_stack, when, n_before)                                                \
	{                                                                                                    \
		.name = text, .since = version, .timed = true, .nargs = n, .stack = with_stack,              \
		.changed = when, .old_nargs = n_before                                                       \
	}
#define NAMED(text, version, n, string_args, with_stack)                                                     \
	{                                                                                                    \
		.name = text, .since = version, .timed = true, .nargs = n, .string = string_args,            \
		.stack = with_stack                                                                          \
	}

static const struct event_v1_spec specs[V1_EVENT_COUNT] = {
	[V1_BATCH] = RECORD("Batch", WIRE_V0, 2),
	[V1_FREQUENCY] = RECORD("Frequency", WIRE_V0, 1),
	[V1_STACK] = RECORD("Stack", WIRE_V0, 2),
	[V1_GOMAXPROCS] = STACKED("Gomaxprocs", WIRE_V0, 2),
	[V1_PROC_START] = CHANGED("ProcStart", WIRE_V0, 1, false, WIRE_GO15, 0),
	[V1_PROC_STOP] = PLAIN("ProcStop", WIRE_V0, 0),
	[V1_GC_START] = CHANGED("GCStart", WIRE_V0, 2, true, WIRE_GO17, 1),
	[V1_GC_DONE] = PLAIN("GCDone", WIRE_V0, 0),
	[V1_STW_START] = CHANGED("STWStart", WIRE_V0, 1, false, WIRE_GO110, 0),
	[V1_STW_DONE] = PLAIN("STWDone", WIRE_V0, 0),
	[V1_GC_SWEEP_START] = STACKED("GCSweepStart", WIRE_V0, 1),
	[V1_GC_SWEEP_DONE] = CHANGED("GCSweepDone", WIRE_V0, 2, false, WIRE_GO19, 0),
	[V1_GO_CREATE] = STACKED("GoCreate", WIRE_V0, 3),
	[V1_GO_START] = CHANGED("GoStart", WIRE_V0, 2, false, WIRE_GO17, 1),
	[V1_GO_END] = PLAIN("GoEnd", WIRE_V0, 0),
	[V1_GO_STOP] = STACKED("GoStop", WIRE_V0, 1),
	[V1_GO_SCHED] = STACKED("GoSched", WIRE_V0, 1),
	[V1_GO_PREEMPT] = STACKED("GoPreempt", WIRE_V0, 1),
	[V1_GO_SLEEP] = STACKED("GoSleep", WIRE_V0, 1),
	[V1_GO_BLOCK] = STACKED("GoBlock", WIRE_V0, 1),
	[V1_GO_UNBLOCK] = CHANGED("GoUnblock", WIRE_V0, 3, true, WIRE_GO17, 2),
	[V1_GO_BLOCK_SEND] = STACKED("GoBlockSend", WIRE_V0, 1),
	[V1_GO_BLOCK_RECV] = STACKED("GoBlockRecv", WIRE_V0, 1),
	[V1_GO_BLOCK_SELECT] = STACKED("GoBlockSelect", WIRE_V0, 1),
	[V1_GO_BLOCK_SYNC] = STACKED("GoBlockSync", WIRE_V0, 1),
	[V1_GO_BLOCK_COND] = STACKED("GoBlockCond", WIRE_V0, 1),
	[V1_GO_BLOCK_NET] = STACKED("GoBlockNet", WIRE_V0, 1),
	[V1_GO_SYSCALL] = STACKED("GoSysCall", WIRE_V0, 1),
	[V1_GO_SYS_EXIT] = CHANGED("GoSysExit", WIRE_V0, 3, false, WIRE_GO15, 1),
	[V1_GO_SYS_BLOCK] = CHANGED("GoSysBlock", WIRE_V0, 0, true, WIRE_GO15, 1),
	[V1_GO_WAITING] = PLAIN("GoWaiting", WIRE_V0, 1),
	[V1_GO_IN_SYSCALL] = PLAIN("GoInSyscall", WIRE_V0, 1),
	[V1_HEAP_ALLOC] = PLAIN("HeapAlloc", WIRE_V0, 1),
	[V1_HEAP_GOAL] = PLAIN("HeapGoal", WIRE_V0, 1),
	[V1_TIMER_GOROUTINE] = RECORD("TimerGoroutine", WIRE_V0, 1),
	[V1_FUTILE_WAKEUP] = PLAIN("FutileWakeup", WIRE_GO15, 0),
	[V1_STRING] = RECORD("String", WIRE_GO17, 2),
	[V1_GO_START_LOCAL] = PLAIN("GoStartLocal", WIRE_GO17, 1),
	[V1_GO_UNBLOCK_LOCAL] = STACKED("GoUnblockLocal", WIRE_GO17, 2),
	[V1_GO_SYS_EXIT_LOCAL] = PLAIN("GoSysExitLocal", WIRE_GO17, 2),
	[V1_GO_START_LABEL] = NAMED("GoStartLabel", WIRE_GO18, 3, ARG(2), false),
	[V1_GO_BLOCK_GC] = STACKED("GoBlockGC", WIRE_GO18, 1),
	[V1_GC_MARK_ASSIST_START] = STACKED("GCMarkAssistStart", WIRE_GO19, 1),
	[V1_GC_MARK_ASSIST_DONE] = PLAIN("GCMarkAssistDone", WIRE_GO19, 0),
	[V1_USER_TASK_CREATE] = NAMED("UserTaskCreate", WIRE_GO111, 4, ARG(2), true),
	[V1_USER_TASK_END] = STACKED("UserTaskEnd", WIRE_GO111, 2),
	[V1_USER_REGION] = NAMED("UserRegion", WIRE_GO111, 4, ARG(2), true),
	[V1_USER_LOG] = NAMED("UserLog", WIRE_GO111, 3, ARG(1), true),
	[V1_CPU_SAMPLE] = STACKED("CPUSample", WIRE_GO119, 4),
};

const struct event_v1_spec *event_v1_spec(unsigned type, unsigned format)
{
	const struct event_v1_spec *spec;

	if (type >= V1_EVENT_COUNT)
		return NULL;
	spec = &specs[type];
	return spec->name && format >= spec->since ? spec : NULL;
}

unsigned event_v1_args(const struct event_v1_spec *spec, unsigned format)
{
	return format < spec->changed ? spec->old_nargs : spec->nargs;
}

const char *event_v1_name(unsigned type, unsigned format)
{
	const struct event_v1_spec *spec = event_v1_spec(type, format);

	if (!spec)
		return "?";
	if (format < WIRE_GO110 && type == V1_STW_START)
		return "GCScanStart";
	if (format < WIRE_GO110 && type == V1_STW_DONE)
		return "GCScanDone";
	return spec->name;
}

const char *event_v1_stw(uint64_t kind)
{
	static const char *const kinds[V1_STW_KINDS] = {
		"unknown",
		"GC mark termination",
		"GC sweep termination",
		"write heap dump",
		"goroutine profile",
		"goroutine profile cleanup",
		"all goroutines stack trace",
		"read mem stats",
		"AllThreadsSyscall",
		"GOMAXPROCS",
		"start trace",
		"stop trace",
		"CountPagesInUse (test)",
		"ReadMetricsSlow (test)",
		"ReadMemStatsSlow (test)",
		"PageCachePagesLeaked (test)",
		"ResetDebugLog (test)",
	};

	return kind < V1_STW_KINDS ? kinds[kind] : NULL;
}
