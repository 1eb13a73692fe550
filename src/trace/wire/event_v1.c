/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sources of the differences between the formats: src/internal/trace/parser.go of Go 1.5.4, 1.7.6, 1.8.7,
 * 1.9.7, 1.10.8, 1.11.13, 1.19.13 and 1.21.13; for v0 the runtime of early 2015, whose events are those of
 * 1.5 without sequence numbers.
 *
 * A timed event begins with dt (v0, and go 1.7 on), or with the delta of seq and dt (go 1.5). The count in
 * the first byte omits one of these values. Untimed records:
 * - Batch: p, ticks (go 1.5: p, seq, ticks)
 * - Frequency and TimerGoroutine: one value (go 1.5: plus a 0)
 * - String: id, length, bytes
 * - Stack: id, count, then that many frames of pc, function, file, line (before go 1.7: pc only)
 */
#include "trace/wire/event_v1.h"

#include <stddef.h>

#include "trace/ops/transition.h"
#include "trace/wire/wire.h"

#define RECORD(text, version, n)                                                                             \
	{                                                                                                    \
		.name = text, .since = version, .nargs = n                                                   \
	}
#define COUNT_ARGS(...) (sizeof((struct event_arg[]){__VA_ARGS__}) / sizeof(struct event_arg))

/* clang-format off */
/* The initializers that rows share; the event's arguments come last. Special ones follow the macro. */
#define EVENT(text, version, op_kind, order, ...)                                                            \
	.name = text, .since = version, .timed = true, .op = op_kind, .numbering = order,                    \
	.nargs = COUNT_ARGS(__VA_ARGS__), .args = {__VA_ARGS__}
#define BARE(text, version, op_kind)                                                                         \
	.name = text, .since = version, .timed = true, .op = op_kind
/* A blocking event with a stack. */
#define BLOCK(text, version, why) EVENT(text, version, OP_GO_BLOCK, V1_UNNUMBERED, STACK), .reason = why
/* Formats before this one have n arguments. */
#define BEFORE(version, n) .changed = version, .old_nargs = n

#define OTHER(text)  {text, ARG_OTHER}
#define VALUE(text)  {text, ARG_VALUE}
#define VALUE2(text) {text, ARG_VALUE2}
#define STRING(text) {text, ARG_STRING}
#define STACK        {"stack", ARG_STACK}
#define ENTRY        {"new_stack", ARG_ENTRY}
#define G            {"g", ARG_G}
#define NEW_G        {"new_g", ARG_NEW_G}
#define SEQ          {"seq", ARG_SEQ}

static const struct event_v1_spec specs[V1_EVENT_COUNT] = {
	[V1_BATCH] = RECORD("Batch", WIRE_V0, 2),
	[V1_FREQUENCY] = RECORD("Frequency", WIRE_V0, 1),
	[V1_STACK] = RECORD("Stack", WIRE_V0, 2),
	[V1_GOMAXPROCS] = {EVENT("Gomaxprocs", WIRE_V0, OP_PROCS_CHANGE, V1_UNORDERED, VALUE("procs"), STACK)},
	[V1_PROC_START] = {EVENT("ProcStart", WIRE_V0, OP_PROC_START, V1_UNORDERED, OTHER("thread")),
			   BEFORE(WIRE_GO15, 0)},
	[V1_PROC_STOP] = {BARE("ProcStop", WIRE_V0, OP_PROC_STOP)},
	[V1_GC_START] = {EVENT("GCStart", WIRE_V0, OP_GC_BEGIN, V1_COUNTED, SEQ, STACK), BEFORE(WIRE_GO17, 1)},
	[V1_GC_DONE] = {BARE("GCDone", WIRE_V0, OP_GC_END)},
	[V1_STW_START] = {EVENT("STWStart", WIRE_V0, OP_STW_BEGIN, V1_UNORDERED, OTHER("kind")),
			  BEFORE(WIRE_GO110, 0)},
	[V1_STW_DONE] = {BARE("STWDone", WIRE_V0, OP_STW_END)},
	[V1_GC_SWEEP_START] = {EVENT("GCSweepStart", WIRE_V0, OP_GC_SWEEP_BEGIN, V1_UNORDERED, STACK)},
	[V1_GC_SWEEP_DONE] = {EVENT("GCSweepDone", WIRE_V0, OP_GC_SWEEP_END, V1_UNORDERED, VALUE("swept"),
				    VALUE2("reclaimed")), BEFORE(WIRE_GO19, 0)},
	[V1_GO_CREATE] = {EVENT("GoCreate", WIRE_V0, OP_GO_CREATE, V1_CREATED, NEW_G, ENTRY, STACK)},
	[V1_GO_START] = {EVENT("GoStart", WIRE_V0, OP_GO_START, V1_NUMBERED, G, SEQ), BEFORE(WIRE_GO17, 1)},
	[V1_GO_END] = {BARE("GoEnd", WIRE_V0, OP_GO_DESTROY)},
	[V1_GO_STOP] = {EVENT("GoStop", WIRE_V0, OP_GO_BLOCK, V1_UNORDERED, STACK), .reason = "forever",
			.before = G_RUNNING, .after = G_DEAD},
	[V1_GO_SCHED] = {EVENT("GoSched", WIRE_V0, OP_GO_STOP, V1_UNNUMBERED, STACK), .reason = "runtime.Gosched"},
	[V1_GO_PREEMPT] = {EVENT("GoPreempt", WIRE_V0, OP_GO_STOP, V1_UNNUMBERED, STACK), .reason = "preempted"},
	[V1_GO_SLEEP] = {BLOCK("GoSleep", WIRE_V0, "sleep")},
	[V1_GO_BLOCK] = {BLOCK("GoBlock", WIRE_V0, ""), .futile = true},
	[V1_GO_UNBLOCK] = {EVENT("GoUnblock", WIRE_V0, OP_GO_UNBLOCK, V1_NUMBERED, G, SEQ, STACK),
			   BEFORE(WIRE_GO17, 2)},
	[V1_GO_BLOCK_SEND] = {BLOCK("GoBlockSend", WIRE_V0, "chan send"), .futile = true},
	[V1_GO_BLOCK_RECV] = {BLOCK("GoBlockRecv", WIRE_V0, "chan receive"), .futile = true},
	[V1_GO_BLOCK_SELECT] = {BLOCK("GoBlockSelect", WIRE_V0, "select"), .futile = true},
	[V1_GO_BLOCK_SYNC] = {BLOCK("GoBlockSync", WIRE_V0, "sync"), .futile = true},
	[V1_GO_BLOCK_COND] = {BLOCK("GoBlockCond", WIRE_V0, "sync.(*Cond).Wait"), .futile = true},
	[V1_GO_BLOCK_NET] = {BLOCK("GoBlockNet", WIRE_V0, "network")},
	[V1_GO_SYSCALL] = {EVENT("GoSysCall", WIRE_V0, OP_SYSCALL_BEGIN, V1_UNORDERED, STACK)},
	[V1_GO_SYS_EXIT] = {EVENT("GoSysExit", WIRE_V0, OP_SYSCALL_END_BLOCKED, V1_NUMBERED, G, SEQ, OTHER("ticks")),
			    BEFORE(WIRE_GO15, 1)},
	/* A P is taken from a system call. Only v0 has a stack. */
	[V1_GO_SYS_BLOCK] = {.name = "GoSysBlock", .since = WIRE_V0, .timed = true, .op = OP_PROC_STEAL,
			     .numbering = V1_UNNUMBERED, .args = {STACK}, BEFORE(WIRE_GO15, 1),
			     .before = G_RUNNING, .after = G_SYSCALL},
	/* Status of a goroutine just created, if it is not runnable. */
	[V1_GO_WAITING] = {EVENT("GoWaiting", WIRE_V0, OP_GO_STATUS, V1_FIRST, G), .before = G_RUNNABLE,
			   .after = G_WAITING},
	[V1_GO_IN_SYSCALL] = {EVENT("GoInSyscall", WIRE_V0, OP_GO_STATUS, V1_FIRST, G), .before = G_RUNNABLE,
			      .after = G_SYSCALL},
	[V1_HEAP_ALLOC] = {EVENT("HeapAlloc", WIRE_V0, OP_HEAP_ALLOC, V1_UNORDERED, VALUE("bytes"))},
	[V1_HEAP_GOAL] = {EVENT("HeapGoal", WIRE_V0, OP_HEAP_GOAL, V1_UNORDERED, VALUE("bytes"))},
	[V1_TIMER_GOROUTINE] = RECORD("TimerGoroutine", WIRE_V0, 1),
	[V1_FUTILE_WAKEUP] = {BARE("FutileWakeup", WIRE_GO15, OP_NONE)},
	[V1_STRING] = RECORD("String", WIRE_GO17, 2),
	[V1_GO_START_LOCAL] = {EVENT("GoStartLocal", WIRE_GO17, OP_GO_START, V1_LOCAL, G)},
	[V1_GO_UNBLOCK_LOCAL] = {EVENT("GoUnblockLocal", WIRE_GO17, OP_GO_UNBLOCK, V1_LOCAL, G, STACK)},
	[V1_GO_SYS_EXIT_LOCAL] = {EVENT("GoSysExitLocal", WIRE_GO17, OP_SYSCALL_END_BLOCKED, V1_LOCAL, G,
					OTHER("ticks"))},
	[V1_GO_START_LABEL] = {EVENT("GoStartLabel", WIRE_GO18, OP_GO_START, V1_NUMBERED, G, SEQ, STRING("label"))},
	[V1_GO_BLOCK_GC] = {BLOCK("GoBlockGC", WIRE_GO18, "GC mark assist wait for work")},
	[V1_GC_MARK_ASSIST_START] = {EVENT("GCMarkAssistStart", WIRE_GO19, OP_GC_ASSIST_BEGIN, V1_UNORDERED, STACK)},
	[V1_GC_MARK_ASSIST_DONE] = {BARE("GCMarkAssistDone", WIRE_GO19, OP_GC_ASSIST_END)},
	[V1_USER_TASK_CREATE] = {EVENT("UserTaskCreate", WIRE_GO111, OP_TASK_BEGIN, V1_UNORDERED, VALUE("task"),
				       VALUE2("parent"), STRING("name"), STACK)},
	[V1_USER_TASK_END] = {EVENT("UserTaskEnd", WIRE_GO111, OP_TASK_END, V1_UNORDERED, VALUE("task"), STACK)},
	/* The mode: 0 = begins, 1 = ends. */
	[V1_USER_REGION] = {EVENT("UserRegion", WIRE_GO111, OP_REGION_BEGIN, V1_UNORDERED, VALUE("task"),
				  OTHER("mode"), STRING("name"), STACK)},
	[V1_USER_LOG] = {EVENT("UserLog", WIRE_GO111, OP_LOG, V1_UNORDERED, VALUE("task"), STRING("key"), STACK)},
	[V1_CPU_SAMPLE] = {EVENT("CPUSample", WIRE_GO119, OP_CPU_SAMPLE, V1_UNORDERED, OTHER("ticks"), OTHER("p"),
				 OTHER("g"), STACK)},
};
/* clang-format on */

bool event_v1_has_stack(const struct event_v1_spec *spec)
{
	for (unsigned i = 0; i < V1_MAX_EVENT_ARGS; i++)
		if (spec->args[i].role == ARG_STACK)
			return true;
	return false;
}

/* The op's effect on the goroutine that it names, or on its own goroutine if it names none. */
static const struct status_change *change_of(const struct event_v1_spec *spec)
{
	const struct transition *t = &transitions[spec->op];

	return t->other.from ? &t->other : &t->self;
}

unsigned event_v1_before(const struct event_v1_spec *spec)
{
	return spec->before ? spec->before : (unsigned)__builtin_ctz(change_of(spec)->from | 1u << 8);
}

unsigned event_v1_after(const struct event_v1_spec *spec)
{
	return spec->before ? spec->after : change_of(spec)->to;
}

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

const char *event_v1_stw_kind(unsigned format, uint64_t kind)
{
	static const char *const two[] = {"mark termination", "sweep termination"};

	if (format < WIRE_GO110)
		return NULL;
	if (format < WIRE_GO121)
		return kind < sizeof(two) / sizeof(two[0]) ? two[kind] : NULL;
	return event_v1_stw(kind < V1_STW_KINDS ? kind : 0);
}
