/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names of events and arguments: Go 1.26 src/internal/trace/tracev2/events.go. */
#include "trace/wire/event.h"

#include <stddef.h>

#include "trace/ops/op.h"
#include "trace/wire/wire.h"

#define TABLE(text, version)                                                                                 \
	{                                                                                                    \
		.name = text, .since = version                                                               \
	}
/* Arguments come last. */
#define EVENT(text, version, op_kind, ...)                                                                   \
	{                                                                                                    \
		.name = text, .timed = true, .since = version, .op = op_kind,                                \
		.nargs = sizeof((struct event_arg[]){__VA_ARGS__}) / sizeof(struct event_arg), .args = {     \
			__VA_ARGS__                                                                          \
		}                                                                                            \
	}
#define BARE(text, version, op_kind)                                                                         \
	{                                                                                                    \
		.name = text, .timed = true, .since = version, .op = op_kind                                 \
	}

/* clang-format off */
#define OTHER(text)  {text, ARG_OTHER}
#define VALUE(text)  {text, ARG_VALUE}
#define VALUE2(text) {text, ARG_VALUE2}
#define STRING(text) {text, ARG_STRING}
#define STACK        {"stack", ARG_STACK}
#define ENTRY        {"new_stack", ARG_ENTRY}
#define G            {"g", ARG_G}
#define NEW_G        {"new_g", ARG_NEW_G}
#define P            {"p", ARG_P}
#define M            {"m", ARG_M}
#define SEQ          {"seq", ARG_SEQ}
#define STATUS       {"status", ARG_STATUS}

const struct event_spec event_specs[EV_COUNT] = {
	[EV_EVENT_BATCH] = TABLE("EventBatch", 22),
	[EV_STACKS] = TABLE("Stacks", 22),
	[EV_STACK] = TABLE("Stack", 22),
	[EV_STRINGS] = TABLE("Strings", 22),
	[EV_STRING] = TABLE("String", 22),
	[EV_CPU_SAMPLES] = TABLE("CPUSamples", 22),
	[EV_CPU_SAMPLE] = TABLE("CPUSample", 22),
	[EV_FREQUENCY] = TABLE("Frequency", 22),
	[EV_PROCS_CHANGE] = EVENT("ProcsChange", 22, OP_PROCS_CHANGE, VALUE("procs"), STACK),
	[EV_PROC_START] = EVENT("ProcStart", 22, OP_PROC_START, P, SEQ),
	[EV_PROC_STOP] = BARE("ProcStop", 22, OP_PROC_STOP),
	[EV_PROC_STEAL] = EVENT("ProcSteal", 22, OP_PROC_STEAL, P, SEQ, M),
	[EV_PROC_STATUS] = EVENT("ProcStatus", 22, OP_PROC_STATUS, P, STATUS),
	[EV_GO_CREATE] = EVENT("GoCreate", 22, OP_GO_CREATE, NEW_G, ENTRY, STACK),
	[EV_GO_CREATE_SYSCALL] = EVENT("GoCreateSyscall", 22, OP_GO_CREATE_SYSCALL, NEW_G),
	[EV_GO_START] = EVENT("GoStart", 22, OP_GO_START, G, SEQ),
	[EV_GO_DESTROY] = BARE("GoDestroy", 22, OP_GO_DESTROY),
	[EV_GO_DESTROY_SYSCALL] = BARE("GoDestroySyscall", 22, OP_GO_DESTROY_SYSCALL),
	[EV_GO_STOP] = EVENT("GoStop", 22, OP_GO_STOP, STRING("reason"), STACK),
	[EV_GO_BLOCK] = EVENT("GoBlock", 22, OP_GO_BLOCK, STRING("reason"), STACK),
	[EV_GO_UNBLOCK] = EVENT("GoUnblock", 22, OP_GO_UNBLOCK, G, SEQ, STACK),
	[EV_GO_SYSCALL_BEGIN] = EVENT("GoSyscallBegin", 22, OP_SYSCALL_BEGIN, {"p_seq", ARG_SEQ}, STACK),
	[EV_GO_SYSCALL_END] = BARE("GoSyscallEnd", 22, OP_SYSCALL_END),
	[EV_GO_SYSCALL_END_BLOCKED] = BARE("GoSyscallEndBlocked", 22, OP_SYSCALL_END_BLOCKED),
	[EV_GO_STATUS] = EVENT("GoStatus", 22, OP_GO_STATUS, G, M, STATUS),
	[EV_STW_BEGIN] = EVENT("STWBegin", 22, OP_STW_BEGIN, STRING("kind"), STACK),
	[EV_STW_END] = BARE("STWEnd", 22, OP_STW_END),
	[EV_GC_ACTIVE] = EVENT("GCActive", 22, OP_GC_ACTIVE, SEQ),
	[EV_GC_BEGIN] = EVENT("GCBegin", 22, OP_GC_BEGIN, SEQ, STACK),
	[EV_GC_END] = EVENT("GCEnd", 22, OP_GC_END, SEQ),
	[EV_GC_SWEEP_ACTIVE] = EVENT("GCSweepActive", 22, OP_GC_SWEEP_ACTIVE, P),
	[EV_GC_SWEEP_BEGIN] = EVENT("GCSweepBegin", 22, OP_GC_SWEEP_BEGIN, STACK),
	[EV_GC_SWEEP_END] = EVENT("GCSweepEnd", 22, OP_GC_SWEEP_END, VALUE("swept"), VALUE2("reclaimed")),
	[EV_GC_MARK_ASSIST_ACTIVE] = EVENT("GCMarkAssistActive", 22, OP_GC_ASSIST_ACTIVE, G),
	[EV_GC_MARK_ASSIST_BEGIN] = EVENT("GCMarkAssistBegin", 22, OP_GC_ASSIST_BEGIN, STACK),
	[EV_GC_MARK_ASSIST_END] = BARE("GCMarkAssistEnd", 22, OP_GC_ASSIST_END),
	[EV_HEAP_ALLOC] = EVENT("HeapAlloc", 22, OP_HEAP_ALLOC, VALUE("bytes")),
	[EV_HEAP_GOAL] = EVENT("HeapGoal", 22, OP_HEAP_GOAL, VALUE("bytes")),
	[EV_GO_LABEL] = EVENT("GoLabel", 22, OP_GO_LABEL, STRING("label")),
	[EV_USER_TASK_BEGIN] = EVENT("UserTaskBegin", 22, OP_TASK_BEGIN, VALUE("task"), VALUE2("parent"),
				     STRING("name"), STACK),
	[EV_USER_TASK_END] = EVENT("UserTaskEnd", 22, OP_TASK_END, VALUE("task"), STACK),
	[EV_USER_REGION_BEGIN] = EVENT("UserRegionBegin", 22, OP_REGION_BEGIN, VALUE("task"), STRING("name"), STACK),
	[EV_USER_REGION_END] = EVENT("UserRegionEnd", 22, OP_REGION_END, VALUE("task"), STRING("name"), STACK),
	[EV_USER_LOG] = EVENT("UserLog", 22, OP_LOG, VALUE("task"), STRING("key"), {"message", ARG_TEXT}, STACK),
	[EV_GO_SWITCH] = EVENT("GoSwitch", 23, OP_GO_SWITCH, G, SEQ),
	[EV_GO_SWITCH_DESTROY] = EVENT("GoSwitchDestroy", 23, OP_GO_SWITCH_DESTROY, G, SEQ),
	[EV_GO_CREATE_BLOCKED] = EVENT("GoCreateBlocked", 23, OP_GO_CREATE_BLOCKED, NEW_G, ENTRY, STACK),
	[EV_GO_STATUS_STACK] = EVENT("GoStatusStack", 23, OP_GO_STATUS, G, M, STATUS, STACK),
	[EV_EXPERIMENTAL_BATCH] = TABLE("ExperimentalBatch", 23),
	[EV_SYNC] = TABLE("Sync", 25),
	[EV_CLOCK_SNAPSHOT] = EVENT("ClockSnapshot", 25, OP_NONE, OTHER("mono"), OTHER("sec"), OTHER("nsec")),
	[EV_END_OF_GENERATION] = TABLE("EndOfGeneration", 26),
	[EV_SPAN] = EVENT("Span", 23, OP_MSPAN, OTHER("id"), OTHER("pages"), OTHER("kind")),
	[EV_SPAN_ALLOC] = EVENT("SpanAlloc", 23, OP_MSPAN_ALLOC, OTHER("id"), OTHER("pages"), OTHER("kind")),
	[EV_SPAN_FREE] = EVENT("SpanFree", 23, OP_MSPAN_FREE, OTHER("id")),
	[EV_HEAP_OBJECT] = EVENT("HeapObject", 23, OP_NONE, OTHER("id"), OTHER("type")),
	[EV_HEAP_OBJECT_ALLOC] = EVENT("HeapObjectAlloc", 23, OP_NONE, OTHER("id"), OTHER("type")),
	[EV_HEAP_OBJECT_FREE] = EVENT("HeapObjectFree", 23, OP_NONE, OTHER("id")),
	[EV_GO_STACK] = EVENT("GoroutineStack", 23, OP_GO_STACK, OTHER("id"), OTHER("order")),
	[EV_GO_STACK_ALLOC] = EVENT("GoroutineStackAlloc", 23, OP_GO_STACK_ALLOC, OTHER("id"), OTHER("order")),
	[EV_STACK_FREE] = EVENT("GoroutineStackFree", 23, OP_GO_STACK_FREE, OTHER("id")),
};
/* clang-format on */

const char *wire_event_name(unsigned type)
{
	const struct event_spec *spec = event_spec(type);

	return spec ? spec->name : "?";
}
