/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "wire/event.h"

#include <stddef.h>

#include "wire/wire.h"

#define ARG(i) (1u << (i))

#define TABLE(text, version)                                                                                 \
	{                                                                                                    \
		.name = text, .since = version                                                               \
	}
#define TIMED(text, version, n, string_args, stack_args)                                                     \
	{                                                                                                    \
		.name = text, .timed = true, .since = version, .nargs = n, .strings = string_args,           \
		.stacks = stack_args                                                                         \
	}

static const struct event_spec specs[EV_COUNT] = {
	[EV_EVENT_BATCH] = TABLE("EventBatch", 22),
	[EV_STACKS] = TABLE("Stacks", 22),
	[EV_STACK] = TABLE("Stack", 22),
	[EV_STRINGS] = TABLE("Strings", 22),
	[EV_STRING] = TABLE("String", 22),
	[EV_CPU_SAMPLES] = TABLE("CPUSamples", 22),
	[EV_CPU_SAMPLE] = TABLE("CPUSample", 22),
	[EV_FREQUENCY] = TABLE("Frequency", 22),
	[EV_PROCS_CHANGE] = TIMED("ProcsChange", 22, 2, 0, ARG(1)),
	[EV_PROC_START] = TIMED("ProcStart", 22, 2, 0, 0),
	[EV_PROC_STOP] = TIMED("ProcStop", 22, 0, 0, 0),
	[EV_PROC_STEAL] = TIMED("ProcSteal", 22, 3, 0, 0),
	[EV_PROC_STATUS] = TIMED("ProcStatus", 22, 2, 0, 0),
	[EV_GO_CREATE] = TIMED("GoCreate", 22, 3, 0, ARG(1) | ARG(2)),
	[EV_GO_CREATE_SYSCALL] = TIMED("GoCreateSyscall", 22, 1, 0, 0),
	[EV_GO_START] = TIMED("GoStart", 22, 2, 0, 0),
	[EV_GO_DESTROY] = TIMED("GoDestroy", 22, 0, 0, 0),
	[EV_GO_DESTROY_SYSCALL] = TIMED("GoDestroySyscall", 22, 0, 0, 0),
	[EV_GO_STOP] = TIMED("GoStop", 22, 2, ARG(0), ARG(1)),
	[EV_GO_BLOCK] = TIMED("GoBlock", 22, 2, ARG(0), ARG(1)),
	[EV_GO_UNBLOCK] = TIMED("GoUnblock", 22, 3, 0, ARG(2)),
	[EV_GO_SYSCALL_BEGIN] = TIMED("GoSyscallBegin", 22, 2, 0, ARG(1)),
	[EV_GO_SYSCALL_END] = TIMED("GoSyscallEnd", 22, 0, 0, 0),
	[EV_GO_SYSCALL_END_BLOCKED] = TIMED("GoSyscallEndBlocked", 22, 0, 0, 0),
	[EV_GO_STATUS] = TIMED("GoStatus", 22, 3, 0, 0),
	[EV_STW_BEGIN] = TIMED("STWBegin", 22, 2, ARG(0), ARG(1)),
	[EV_STW_END] = TIMED("STWEnd", 22, 0, 0, 0),
	[EV_GC_ACTIVE] = TIMED("GCActive", 22, 1, 0, 0),
	[EV_GC_BEGIN] = TIMED("GCBegin", 22, 2, 0, ARG(1)),
	[EV_GC_END] = TIMED("GCEnd", 22, 1, 0, 0),
	[EV_GC_SWEEP_ACTIVE] = TIMED("GCSweepActive", 22, 1, 0, 0),
	[EV_GC_SWEEP_BEGIN] = TIMED("GCSweepBegin", 22, 1, 0, ARG(0)),
	[EV_GC_SWEEP_END] = TIMED("GCSweepEnd", 22, 2, 0, 0),
	[EV_GC_MARK_ASSIST_ACTIVE] = TIMED("GCMarkAssistActive", 22, 1, 0, 0),
	[EV_GC_MARK_ASSIST_BEGIN] = TIMED("GCMarkAssistBegin", 22, 1, 0, ARG(0)),
	[EV_GC_MARK_ASSIST_END] = TIMED("GCMarkAssistEnd", 22, 0, 0, 0),
	[EV_HEAP_ALLOC] = TIMED("HeapAlloc", 22, 1, 0, 0),
	[EV_HEAP_GOAL] = TIMED("HeapGoal", 22, 1, 0, 0),
	[EV_GO_LABEL] = TIMED("GoLabel", 22, 1, ARG(0), 0),
	[EV_USER_TASK_BEGIN] = TIMED("UserTaskBegin", 22, 4, ARG(2), ARG(3)),
	[EV_USER_TASK_END] = TIMED("UserTaskEnd", 22, 2, 0, ARG(1)),
	[EV_USER_REGION_BEGIN] = TIMED("UserRegionBegin", 22, 3, ARG(1), ARG(2)),
	[EV_USER_REGION_END] = TIMED("UserRegionEnd", 22, 3, ARG(1), ARG(2)),
	[EV_USER_LOG] = TIMED("UserLog", 22, 4, ARG(1) | ARG(2), ARG(3)),
	[EV_GO_SWITCH] = TIMED("GoSwitch", 23, 2, 0, 0),
	[EV_GO_SWITCH_DESTROY] = TIMED("GoSwitchDestroy", 23, 2, 0, 0),
	[EV_GO_CREATE_BLOCKED] = TIMED("GoCreateBlocked", 23, 3, 0, ARG(1) | ARG(2)),
	[EV_GO_STATUS_STACK] = TIMED("GoStatusStack", 23, 4, 0, ARG(3)),
	[EV_EXPERIMENTAL_BATCH] = TABLE("ExperimentalBatch", 23),
	[EV_SYNC] = TABLE("Sync", 25),
	[EV_CLOCK_SNAPSHOT] = TIMED("ClockSnapshot", 25, 3, 0, 0),
	[EV_END_OF_GENERATION] = TABLE("EndOfGeneration", 26),
	[EV_SPAN] = TIMED("Span", 23, 3, 0, 0),
	[EV_SPAN + 1] = TIMED("SpanAlloc", 23, 3, 0, 0),
	[EV_SPAN + 2] = TIMED("SpanFree", 23, 1, 0, 0),
	[EV_SPAN + 3] = TIMED("HeapObject", 23, 2, 0, 0),
	[EV_SPAN + 4] = TIMED("HeapObjectAlloc", 23, 2, 0, 0),
	[EV_SPAN + 5] = TIMED("HeapObjectFree", 23, 1, 0, 0),
	[EV_SPAN + 6] = TIMED("GoroutineStack", 23, 2, 0, 0),
	[EV_SPAN + 7] = TIMED("GoroutineStackAlloc", 23, 2, 0, 0),
	[EV_STACK_FREE] = TIMED("GoroutineStackFree", 23, 1, 0, 0),
};

const struct event_spec *event_spec(unsigned type)
{
	return type < EV_COUNT && specs[type].name ? &specs[type] : NULL;
}

const char *wire_event_name(unsigned type)
{
	const struct event_spec *spec = event_spec(type);

	return spec ? spec->name : "?";
}
