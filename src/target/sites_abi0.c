/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/sites.h"

#include <stddef.h>

#include "bpf/record.h"
#include "target/stack.h"

#define CASGSTATUS "runtime.casgstatus"
#define CALLBACKG  "runtime.cgocallbackg"
#define GC_WORKER  "runtime.(*gcControllerState).findRunnableGCWorker"

/* Short names for the rules below. */
enum {
	RUNNABLE = G_STATUS_RUNNABLE,
	RUNNING = G_STATUS_RUNNING,
	SYSCALL = G_STATUS_SYSCALL,
	WAITING = G_STATUS_WAITING,
	DEAD = G_STATUS_DEAD,
};

#define PROLOGUE(site_, first_, last_, name)                                                                 \
	{                                                                                                    \
		.site = site_, .place = PLACE_PROLOGUE, .first = first_, .last = last_, .function = name,    \
	}
#define IF_PRESENT(site_, first_, name)                                                                      \
	{                                                                                                    \
		.site = site_, .place = PLACE_PROLOGUE, .condition = SITE_IF_PRESENT, .first = first_,       \
		.last = ABI0_LAST, .function = name,                                                         \
	}
#define CHANGE(site_, first_, last_, name, total_, old, new)                                                 \
	{                                                                                                    \
		.site = site_, .place = PLACE_CALL, .first = first_, .last = last_, .function = name,        \
		.callee = CASGSTATUS, .total = total_, .which = BY_STATUS, .old_status = old,                \
		.new_status = new,                                                                           \
	}
#define CGO_CHANGE(site_, name, old, new)                                                                    \
	{                                                                                                    \
		.site = site_, .place = PLACE_CALL, .condition = SITE_IF_CGO, .first = 9, .last = ABI0_LAST, \
		.function = name, .callee = CASGSTATUS, .total = 1, .old_status = old, .new_status = new,    \
	}
#define CGO_CALL(site_, first_, last_, name, callee_)                                                        \
	{                                                                                                    \
		.site = site_, .place = PLACE_CALL, .condition = SITE_IF_CGO, .first = first_,               \
		.last = last_, .function = name, .callee = callee_, .total = 1, .old_status = ANY_STATUS,    \
		.new_status = ANY_STATUS,                                                                    \
	}
#define CHECK(site_, first_, last_, name, total_, which_)                                                    \
	{                                                                                                    \
		.site = site_, .place = PLACE_CHECK, .first = first_, .last = last_, .function = name,       \
		.total = total_, .which = which_,                                                            \
	}

#define TRACE_GUARD(site_, first_, last_, name, callee_, event_, total_, which_)                             \
	{                                                                                                    \
		.site = site_, .place = PLACE_TRACE_GUARD, .first = first_, .last = last_, .function = name, \
		.callee = callee_, .event = event_, .total = total_, .which = which_,                        \
	}

/* traceEv*, Go 1.5 to 1.16 runtime/trace.go; those of stop-the-worlds since 1.10. */
enum {
	EV_GC_START = 7,
	EV_GC_DONE = 8,
	EV_STW_START = 9,
	EV_STW_DONE = 10,
	EV_SWEEP_START = 11,
	EV_SWEEP_DONE = 12,
	EV_HEAP_ALLOC = 33,
	EV_NEXT_GC = 34,
	EV_ASSIST_DONE = 44,
};

#define REFILL  "runtime.(*mcache).refill"
#define LARGE   "runtime.(*mcache).allocLarge"
#define CENTRAL "runtime.(*mcentral).cacheSpan"
#define ALLOC_M "runtime.(*mheap).alloc_m"
#define SPAN    "runtime.(*mheap).allocSpan"
#define SWEEP   "runtime.(*mspan).sweep"
#define SWEEP_5 "runtime.mSpan_Sweep"
#define ASSIST  "runtime.gcAssistAlloc"

/*
 * Derived from runtime/proc.go, proc1.go, cgocall.go, mgc*.go, mheap.go of Go 1.5 to 1.16, proc.c and mgc0.c
 * of 1.4.
 */
const struct site_rule abi0_site_rules[] = {
	PROLOGUE(SITE_PARK, 4, ABI0_LAST, "runtime.park_m"),
	PROLOGUE(SITE_READY, 4, ABI0_LAST, "runtime.ready"),
	PROLOGUE(SITE_EXECUTE, 4, ABI0_LAST, "runtime.execute"),
	/* goschedImpl does not know which of these called it. */
	PROLOGUE(SITE_GOSCHED, 4, ABI0_LAST, "runtime.gosched_m"),
	IF_PRESENT(SITE_GOSCHED, 10, "runtime.goschedguarded_m"),
	PROLOGUE(SITE_GOYIELD, 5, ABI0_LAST, "runtime.gopreempt_m"),
	PROLOGUE(SITE_GOYIELD, 14, ABI0_LAST, "runtime.goyield_m"),
	PROLOGUE(SITE_PREEMPTPARK, 14, ABI0_LAST, "runtime.preemptPark"),
	PROLOGUE(SITE_DESTROY, 4, ABI0_LAST, "runtime.goexit0"),
	CHANGE(SITE_UNBLOCK, 4, ABI0_LAST, "runtime.findrunnable", 0, WAITING, RUNNABLE),
	CHANGE(SITE_UNBLOCK, 5, ABI0_LAST, GC_WORKER, 1, WAITING, RUNNABLE),
	CHANGE(SITE_UNBLOCK, 4, ABI0_LAST, "runtime.injectglist", 0, WAITING, RUNNABLE),
	/* The reader of the runtime's own tracer. */
	CHANGE(SITE_UNBLOCK, 5, ABI0_LAST, "runtime.schedule", 0, WAITING, RUNNABLE),
	/* Collector workers bound to a P that is removed. */
	CHANGE(SITE_UNBLOCK, 5, 12, "runtime.procresize", 1, WAITING, RUNNABLE),
	CHANGE(SITE_UNBLOCK, 4, ABI0_LAST, "runtime.park_m", 2, WAITING, RUNNABLE),
	CHANGE(SITE_NEWPROC, 4, ABI0_LAST, "runtime.newproc1", 2, DEAD, RUNNABLE),

	CHANGE(SITE_SYSCALL_BLOCK, 4, ABI0_LAST, "runtime.entersyscallblock", 1, RUNNING, SYSCALL),
	CHANGE(SITE_EXIT_NO_P, 4, ABI0_LAST, "runtime.exitsyscall0", 1, SYSCALL, RUNNABLE),
	CGO_CALL(SITE_CGO_ENTER, 4, 4, "runtime.cgocall_errno", "runtime.entersyscall"),
	CGO_CALL(SITE_CGO_EXIT, 4, 4, "runtime.cgocall_errno", "runtime.exitsyscall"),
	CGO_CALL(SITE_CGO_ENTER, 5, ABI0_LAST, "runtime.cgocall", "runtime.entersyscall"),
	CGO_CALL(SITE_CGO_EXIT, 5, ABI0_LAST, "runtime.cgocall", "runtime.exitsyscall"),
	CGO_CALL(SITE_CGO_RETURN, 4, ABI0_LAST, CALLBACKG, "runtime.reentersyscall"),
	CGO_CALL(SITE_CGO_EXIT, 4, ABI0_LAST, CALLBACKG, "runtime.exitsyscall"),
	/* Up to 1.8 the goroutine of a C thread is in a system call all the time. */
	CGO_CHANGE(SITE_NEEDM, "runtime.needm", DEAD, SYSCALL),
	CGO_CHANGE(SITE_DROPM, "runtime.dropm", SYSCALL, DEAD),

	/* Fast ends of system calls use acquirep1 or wirep instead. */
	PROLOGUE(SITE_ACQUIREP, 4, ABI0_LAST, "runtime.acquirep"),
	PROLOGUE(SITE_RELEASEP, 4, ABI0_LAST, "runtime.releasep"),
	PROLOGUE(SITE_HANDOFFP, 4, ABI0_LAST, "runtime.handoffp"),
	PROLOGUE(SITE_GCWAIT, 4, ABI0_LAST, "runtime.entersyscall_gcwait"),
	PROLOGUE(SITE_PROCRESIZE, 4, ABI0_LAST, "runtime.procresize"),

	PROLOGUE(SITE_STW_BEGIN, 4, 4, "runtime.stoptheworld"),
	PROLOGUE(SITE_STW_END, 4, 4, "runtime.starttheworld"),
	PROLOGUE(SITE_GC_BEGIN, 4, 4, "runtime.gc_m"),
	CHANGE(SITE_GC_END, 4, 4, "runtime.gc_m", 2, WAITING, RUNNING),
	/* From 1.10 on the collector's stop-the-worlds are traced. */
	PROLOGUE(SITE_STW_BEGIN, 5, 9, "runtime.stopTheWorldWithSema"),
	PROLOGUE(SITE_STW_END, 5, 9, "runtime.startTheWorldWithSema"),
	/* The first is for stop-the-world collection (GODEBUG) and comes after the end. */
	TRACE_GUARD(SITE_STW_BEGIN, 10, 11, "runtime.gcStart", "runtime.traceGCSTWStart", EV_STW_START, 2, 1),
	TRACE_GUARD(SITE_STW_BEGIN, 12, ABI0_LAST, "runtime.gcStart", "runtime.traceGCSTWStart", EV_STW_START,
		    1, 0),
	TRACE_GUARD(SITE_STW_BEGIN, 10, ABI0_LAST, "runtime.gcMarkDone", "runtime.traceGCSTWStart",
		    EV_STW_START, 1, 0),
	TRACE_GUARD(SITE_STW_END, 10, ABI0_LAST, "runtime.startTheWorldWithSema", "runtime.traceGCSTWDone",
		    EV_STW_DONE, 1, 0),
	TRACE_GUARD(SITE_GC_BEGIN, 5, 5, "runtime.gc", "runtime.traceGCStart", EV_GC_START, 1, 0),
	TRACE_GUARD(SITE_GC_BEGIN, 6, ABI0_LAST, "runtime.gcStart", "runtime.traceGCStart", EV_GC_START, 1,
		    0),
	TRACE_GUARD(SITE_GC_END, 5, 5, "runtime.gc", "runtime.traceGCDone", EV_GC_DONE, 1, 0),
	TRACE_GUARD(SITE_GC_END, 6, ABI0_LAST, "runtime.gcMarkTermination", "runtime.traceGCDone", EV_GC_DONE,
		    1, 0),

	TRACE_GUARD(SITE_HEAP_ALLOC, 5, 5, "runtime.purgecachedstats", "runtime.traceHeapAlloc",
		    EV_HEAP_ALLOC, 1, 0),
	TRACE_GUARD(SITE_HEAP_ALLOC, 5, 5, "runtime.mHeap_Alloc_m", "runtime.traceHeapAlloc", EV_HEAP_ALLOC,
		    1, 0),
	TRACE_GUARD(SITE_HEAP_ALLOC, 5, 5, "runtime.mHeap_Free.func1", "runtime.traceHeapAlloc",
		    EV_HEAP_ALLOC, 1, 0),
	TRACE_GUARD(SITE_HEAP_ALLOC, 6, 15, CENTRAL, "runtime.traceHeapAlloc", EV_HEAP_ALLOC, 1, 0),
	TRACE_GUARD(SITE_HEAP_ALLOC, 6, 13, ALLOC_M, "runtime.traceHeapAlloc", EV_HEAP_ALLOC, 1, 0),
	TRACE_GUARD(SITE_HEAP_ALLOC, 14, 15, SPAN, "runtime.traceHeapAlloc", EV_HEAP_ALLOC, 1, 0),
	TRACE_GUARD(SITE_HEAP_ALLOC, 16, ABI0_LAST, REFILL, "runtime.traceHeapAlloc", EV_HEAP_ALLOC, 1, 0),
	TRACE_GUARD(SITE_HEAP_ALLOC, 16, ABI0_LAST, LARGE, "runtime.traceHeapAlloc", EV_HEAP_ALLOC, 1, 0),
	TRACE_GUARD(SITE_HEAP_RESET, 5, ABI0_LAST, "runtime.gcMark", "runtime.traceHeapAlloc", EV_HEAP_ALLOC,
		    1, 0),
	TRACE_GUARD(SITE_HEAP_GOAL, 5, 8, "runtime.gcMark", "runtime.traceNextGC", EV_NEXT_GC, 1, 0),
	TRACE_GUARD(SITE_HEAP_GOAL, 9, ABI0_LAST, "runtime.gcSetTriggerRatio", "runtime.traceNextGC",
		    EV_NEXT_GC, 1, 0),
	/* Before 1.9 each span is traced separately. */
	TRACE_GUARD(SITE_SWEEP_BEGIN, 5, 5, SWEEP_5, "runtime.traceGCSweepStart", EV_SWEEP_START, 1, 0),
	TRACE_GUARD(SITE_SWEEP_END, 5, 5, SWEEP_5, "runtime.traceGCSweepDone", EV_SWEEP_DONE, 1, 0),
	TRACE_GUARD(SITE_SWEEP_BEGIN, 6, 8, SWEEP, "runtime.traceGCSweepStart", EV_SWEEP_START, 1, 0),
	TRACE_GUARD(SITE_SWEEP_END, 6, 8, SWEEP, "runtime.traceGCSweepDone", EV_SWEEP_DONE, 1, 0),
	/* The first check traces the span, the second adds the freed memory. */
	CHECK(SITE_SWEEP_BEGIN, 9, ABI0_LAST, SWEEP, 2, 0),
	CHECK(SITE_SWEEP_SPAN, 9, ABI0_LAST, SWEEP, 2, 1),
	CHECK(SITE_RECLAIM_CHUNK, 12, ABI0_LAST, "runtime.(*mheap).reclaimChunk", 1, 0),
	CHECK(SITE_SWEEP_END, 12, ABI0_LAST, "runtime.(*mheap).reclaim", 2, 1),
	CHECK(SITE_ASSIST_BEGIN, 9, ABI0_LAST, ASSIST, 1, 0),
	TRACE_GUARD(SITE_ASSIST_END, 9, ABI0_LAST, ASSIST, "runtime.traceGCMarkAssistDone", EV_ASSIST_DONE, 0,
		    ALL_MATCHES),

	IF_PRESENT(SITE_TASK_BEGIN, 11, "runtime/trace.userTaskCreate"),
	IF_PRESENT(SITE_TASK_END, 11, "runtime/trace.userTaskEnd"),
	IF_PRESENT(SITE_REGION_BEGIN, 11, "runtime/trace.userRegion"),
	IF_PRESENT(SITE_LOG, 11, "runtime/trace.userLog"),
	IF_PRESENT(SITE_LABELS, 9, "runtime/pprof.runtime_setProfLabel"),
};

const unsigned abi0_site_rule_count = sizeof(abi0_site_rules) / sizeof(abi0_site_rules[0]);
