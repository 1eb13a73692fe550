/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/sites.h"

#include <stddef.h>

#include "bpf/record.h"
#include "target/stack.h"

#define CASGSTATUS "runtime.casgstatus"
#define CALLBACKG  "runtime.cgocallbackg"
/* traceEv*, Go 1.17 to 1.21 runtime/trace.go. */
#define EV_GC_MARK_ASSIST_DONE 44
#define GC_WORKER              "runtime.(*gcControllerState).findRunnableGCWorker"

/* Short names for the rules below; _Gdeadextra was added in 1.26. */
enum {
	RUNNABLE = G_STATUS_RUNNABLE,
	RUNNING = G_STATUS_RUNNING,
	SYSCALL = G_STATUS_SYSCALL,
	WAITING = G_STATUS_WAITING,
	DEAD = G_STATUS_DEAD,
	DEADEXTRA = G_STATUS_DEADEXTRA,
};

#define PROLOGUE(site_, first_, last_, name)                                                                 \
	{                                                                                                    \
		.site = site_, .place = PLACE_PROLOGUE, .first = first_, .last = last_, .function = name,    \
	}
/* The prologue of a function that runs on g0. */
#define SCHEDULER(site_, first_, last_, name)                                                                \
	{                                                                                                    \
		.site = site_, .place = PLACE_PROLOGUE, .first = first_, .last = last_, .on_g0 = true,       \
		.function = name,                                                                            \
	}
#define CHANGE(site_, first_, last_, name, total_, which_, old, new)                                         \
	{                                                                                                    \
		.site = site_, .place = PLACE_CALL, .first = first_, .last = last_, .function = name,        \
		.callee = CASGSTATUS, .total = total_, .which = which_, .old_status = old,                   \
		.new_status = new,                                                                           \
	}
#define CGO_CHANGE(site_, first_, last_, name, old, new)                                                     \
	{                                                                                                    \
		.site = site_, .place = PLACE_CALL, .condition = SITE_IF_CGO, .first = first_,               \
		.last = last_, .function = name, .callee = CASGSTATUS, .total = 1, .old_status = old,        \
		.new_status = new,                                                                           \
	}
#define CGO_CALL(site_, name, callee_)                                                                       \
	{                                                                                                    \
		.site = site_, .place = PLACE_CALL, .condition = SITE_IF_CGO, .last = NEWEST,                \
		.function = name, .callee = callee_, .total = 1, .old_status = ANY_STATUS,                   \
		.new_status = ANY_STATUS,                                                                    \
	}
#define ALLOC(site_, place_, name)                                                                           \
	{                                                                                                    \
		.site = site_, .place = place_, .condition = SITE_IF_ALLOC, .first = 23, .last = NEWEST,     \
		.function = name, .total = 1,                                                                \
	}
#define CALL_OF(site_, condition_, first_, last_, name, callee_)                                             \
	{                                                                                                    \
		.site = site_, .place = PLACE_CALL, .condition = condition_, .first = first_, .last = last_, \
		.function = name, .callee = callee_, .total = 1, .old_status = ANY_STATUS,                   \
		.new_status = ANY_STATUS,                                                                    \
	}
#define CHECK(site_, name)                                                                                   \
	{                                                                                                    \
		.site = site_, .place = PLACE_CHECK, .last = NEWEST, .function = name, .total = 1,           \
	}
#define CHECK_OF(site_, first_, last_, name, total_, which_)                                                 \
	{                                                                                                    \
		.site = site_, .place = PLACE_CHECK, .first = first_, .last = last_, .function = name,       \
		.total = total_, .which = which_,                                                            \
	}

#define USER(site_, place_, name)                                                                            \
	{                                                                                                    \
		.site = site_, .place = place_, .condition = SITE_IF_PRESENT, .last = NEWEST,                \
		.function = name,                                                                            \
	}

/* Derived from runtime/proc.go, coro.go, cgocall.go, mgc*.go, mheap.go, stack.go of Go 1.17 to 1.27. */
const struct site_rule site_rules[] = {
	SCHEDULER(SITE_PARK, 0, NEWEST, "runtime.park_m"),
	SCHEDULER(SITE_READY, 0, NEWEST, "runtime.ready"),
	SCHEDULER(SITE_EXECUTE, 0, NEWEST, "runtime.execute"),
	SCHEDULER(SITE_GOSCHED, 22, NEWEST, "runtime.goschedImpl"),
	/* Up to 1.21 goschedImpl does not know whether the goroutine was preempted, but its callers do. */
	CALL_OF(SITE_GOSCHED, SITE_ALWAYS, 0, 20, "runtime.gosched_m", "runtime.goschedImpl"),
	CALL_OF(SITE_GOSCHED, SITE_IF_PRESENT, 0, 20, "runtime.goschedguarded_m", "runtime.goschedImpl"),
	CALL_OF(SITE_GOYIELD, SITE_ALWAYS, 0, 20, "runtime.gopreempt_m", "runtime.goschedImpl"),
	SCHEDULER(SITE_GOSCHED, 21, 21, "runtime.gosched_m"),
	{
		.site = SITE_GOSCHED,
		.place = PLACE_PROLOGUE,
		.condition = SITE_IF_PRESENT,
		.first = 21,
		.last = 21,
		.on_g0 = true,
		.function = "runtime.goschedguarded_m",
	},
	SCHEDULER(SITE_GOYIELD, 21, 21, "runtime.gopreempt_m"),
	SCHEDULER(SITE_GOYIELD, 0, NEWEST, "runtime.goyield_m"),
	SCHEDULER(SITE_PREEMPTPARK, 0, NEWEST, "runtime.preemptPark"),
	SCHEDULER(SITE_DESTROY, 0, 21, "runtime.goexit0"),
	SCHEDULER(SITE_DESTROY, 22, NEWEST, "runtime.gdestroy"),
	{
		.site = SITE_CORO,
		.place = PLACE_PROLOGUE,
		.condition = SITE_IF_PRESENT,
		.last = NEWEST,
		.on_g0 = true,
		.function = "runtime.coroswitch_m",
	},
	CHANGE(SITE_UNBLOCK, 0, 18, "runtime.schedule", 1, ALL_MATCHES, WAITING, RUNNABLE),
	CHANGE(SITE_UNBLOCK, 0, 18, "runtime.findrunnable", 0, ALL_MATCHES, WAITING, RUNNABLE),
	CHANGE(SITE_UNBLOCK, 19, NEWEST, "runtime.findRunnable", 0, ALL_MATCHES, WAITING, RUNNABLE),
	CHANGE(SITE_UNBLOCK, 0, NEWEST, GC_WORKER, 0, ALL_MATCHES, WAITING, RUNNABLE),
	CHANGE(SITE_UNBLOCK, 0, NEWEST, "runtime.injectglist", 0, ALL_MATCHES, WAITING, RUNNABLE),
	/* The first change parks the goroutine; the second reverts that if the unlock function refuses. */
	CHANGE(SITE_UNBLOCK, 0, NEWEST, "runtime.park_m", 2, 1, WAITING, RUNNABLE),
	/*
	 * The first change marks a g from malg as dead. The new status of the second is a variable from 1.23
	 * on.
	 */
	CHANGE(SITE_NEWPROC, 0, NEWEST, "runtime.newproc1", 2, 1, DEAD, ANY_STATUS),

	/* This function has no stack check, and up to 1.20 no push. */
	CHANGE(SITE_SYSCALL_BLOCK, 0, 20, "runtime.entersyscallblock", 1, 0, RUNNING, SYSCALL),
	PROLOGUE(SITE_SYSCALL_BLOCK, 21, NEWEST, "runtime.entersyscallblock"),
	CHANGE(SITE_EXIT_NO_P, 0, 25, "runtime.exitsyscall0", 1, 0, SYSCALL, RUNNABLE),
	CHANGE(SITE_EXIT_NO_P, 26, NEWEST, "runtime.exitsyscallNoP", 1, 0, ANY_STATUS, RUNNABLE),
	CGO_CALL(SITE_CGO_ENTER, "runtime.cgocall", "runtime.entersyscall"),
	CGO_CALL(SITE_CGO_EXIT, "runtime.cgocall", "runtime.exitsyscall"),
	CGO_CALL(SITE_CGO_RETURN, CALLBACKG, "runtime.reentersyscall"),
	CGO_CALL(SITE_CGO_EXIT, CALLBACKG, "runtime.exitsyscall"),
	CGO_CHANGE(SITE_NEEDM, 0, 25, "runtime.needm", DEAD, SYSCALL),
	CGO_CHANGE(SITE_NEEDM, 26, NEWEST, "runtime.needm", DEADEXTRA, SYSCALL),
	CGO_CHANGE(SITE_DROPM, 0, 25, "runtime.dropm", SYSCALL, DEAD),
	CGO_CHANGE(SITE_DROPM, 26, NEWEST, "runtime.dropm", SYSCALL, DEADEXTRA),

	/* Up to 1.25 every fast end of a system call also calls wirep, but not acquirep. */
	PROLOGUE(SITE_ACQUIREP, 0, 25, "runtime.acquirep"),
	PROLOGUE(SITE_ACQUIREP, 26, NEWEST, "runtime.wirep"),
	PROLOGUE(SITE_RELEASEP, 0, 21, "runtime.releasep"),
	PROLOGUE(SITE_RELEASEP, 22, NEWEST, "runtime.releasepNoTrace"),
	PROLOGUE(SITE_HANDOFFP, 0, 25, "runtime.handoffp"),
	PROLOGUE(SITE_STEALP, 26, NEWEST, "runtime.syscallingThread.releaseP"),
	PROLOGUE(SITE_GCWAIT, 0, 25, "runtime.entersyscall_gcwait"),
	PROLOGUE(SITE_GCWAIT, 26, NEWEST, "runtime.entersyscallHandleGCWait"),
	PROLOGUE(SITE_PROCRESIZE, 0, NEWEST, "runtime.procresize"),

	/* Up to 1.20 only the collector's stop-the-worlds are traced, in the functions that request them. */
	CHECK_OF(SITE_STW_BEGIN, 0, 20, "runtime.gcStart", 2, 1),
	CHECK_OF(SITE_STW_BEGIN, 0, 20, "runtime.gcMarkDone", 1, 0),
	PROLOGUE(SITE_STW_BEGIN, 21, NEWEST, "runtime.stopTheWorldWithSema"),
	/* wakep is called right after the event, if the caller has requested it. */
	CALL_OF(SITE_STW_END, SITE_ALWAYS, 0, 20, "runtime.startTheWorldWithSema", "runtime.wakep"),
	CHECK_OF(SITE_STW_END, 21, NEWEST, "runtime.startTheWorldWithSema", 1, 0),
	CHECK_OF(SITE_GC_BEGIN, 0, 20, "runtime.gcStart", 2, 0),
	CHECK_OF(SITE_GC_BEGIN, 21, NEWEST, "runtime.gcStart", 1, 0),
	CHECK(SITE_GC_END, "runtime.gcMarkTermination"),

	/*
	 * Called whether or not the tracer is on, except StartRegion and Logf (runtime/trace/annotation.go).
	 */
	{
		.site = SITE_PLUGIN,
		.place = PLACE_PROLOGUE,
		.condition = SITE_IF_PRESENT,
		.last = NEWEST,
		.function = PLUGIN_OPENED,
	},
	USER(SITE_TASK_BEGIN, PLACE_PROLOGUE, "runtime/trace.userTaskCreate"),
	USER(SITE_TASK_END, PLACE_PROLOGUE, "runtime/trace.userTaskEnd"),
	USER(SITE_REGION_BEGIN, PLACE_PROLOGUE, "runtime/trace.userRegion"),
	USER(SITE_LOG, PLACE_PROLOGUE, "runtime/trace.userLog"),
	USER(SITE_REGION_START, PLACE_REGION, "runtime/trace.StartRegion"),
	/* Its argument is the new set, which it stores in g.labels (runtime/proflabel.go). */
	USER(SITE_LABELS, PLACE_PROLOGUE, "runtime/pprof.runtime_setProfLabel"),
	/*
	 * An assist begins in one place and ends in three. Up to 1.21, the end checks a local variable that
	 * says whether the beginning was traced.
	 */
	CHECK_OF(SITE_ASSIST_BEGIN, 0, 21, "runtime.gcAssistAlloc", 1, 0),
	{
		.site = SITE_ASSIST_END,
		.place = PLACE_GUARD,
		.last = 21,
		.function = "runtime.gcAssistAlloc",
		.callee = "runtime.traceEvent",
		.which = ALL_MATCHES,
		.event = EV_GC_MARK_ASSIST_DONE,
	},
	CHECK_OF(SITE_ASSIST_BEGIN, 22, NEWEST, "runtime.gcAssistAlloc", 4, ALL_MATCHES),
	PROLOGUE(SITE_SWEEP_BEGIN, 0, NEWEST, "runtime.(*sweepLocked).sweep"),
	/*
	 * By their lines, the first check traces the span, the last adds the freed memory. From 1.23 on there
	 * is another one per object between them.
	 */
	CHECK_OF(SITE_SWEEP_SPAN, 0, 22, "runtime.(*sweepLocked).sweep", 2, 1),
	CHECK_OF(SITE_SWEEP_SPAN, 23, NEWEST, "runtime.(*sweepLocked).sweep", 3, 2),
	CHECK(SITE_RECLAIM_CHUNK, "runtime.(*mheap).reclaimChunk"),
	CHECK_OF(SITE_SWEEP_END, 0, NEWEST, "runtime.(*mheap).reclaim", 2, 1),
	CHECK_OF(SITE_HEAP_ALLOC, 0, 17, "runtime.(*mcache).refill", 1, 0),
	CHECK_OF(SITE_HEAP_ALLOC, 0, 17, "runtime.(*mcache).allocLarge", 1, 0),
	CHECK_OF(SITE_HEAP_RESET, 0, 17, "runtime.gcMark", 1, 0),
	PROLOGUE(SITE_HEAP_ALLOC, 18, NEWEST, "runtime.(*gcControllerState).update"),
	PROLOGUE(SITE_HEAP_RESET, 18, NEWEST, "runtime.(*gcControllerState).resetLive"),
	CHECK_OF(SITE_HEAP_GOAL, 0, 18, "runtime.(*gcControllerState).commit", 1, 0),
	CALL_OF(SITE_HEAP_GOAL, SITE_ALWAYS, 19, NEWEST, "runtime.gcControllerCommit",
		"runtime.gcPaceScavenger"),
	{
		.site = SITE_ALLOC_SPAN,
		.place = PLACE_CALL,
		.condition = SITE_IF_ALLOC,
		.first = 23,
		.last = NEWEST,
		.function = "runtime.(*mheap).allocSpan",
		.callee = "runtime.(*mheap).initSpan",
		.total = 1,
		.old_status = ANY_STATUS,
		.new_status = ANY_STATUS,
	},
	ALLOC(SITE_ALLOC_SPAN_FREE, PLACE_PROLOGUE, "runtime.(*mheap).freeSpanLocked"),
	ALLOC(SITE_ALLOC_STACK, PLACE_ALLOC_CHECK, "runtime.stackalloc"),
	ALLOC(SITE_ALLOC_STACK_FREE, PLACE_PROLOGUE, "runtime.stackfree"),
};

const unsigned site_rule_count = sizeof(site_rules) / sizeof(site_rules[0]);
