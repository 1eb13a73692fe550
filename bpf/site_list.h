/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sites: what a hit means, and what belongs to it. Each file that has something for each site includes
 * this list with its own SITE(), so no file can forget a site:
 *
 *	SITE(name, number, program, go_handler, threads_handler)
 *
 * number: of SITE_name in enum site (bpf/record.h). Raw logs store it: never renumber, only append.
 *
 * program: PROGRAM(name) of the BPF program of its probes in a Go program (capture/attach.c), which is also
 * the name that `gotrace sites` prints. NULL: it has no probe points of its own. An assertion in
 * capture/bpf_go.c ensures that the program exists.
 *
 * go_handler, threads_handler: the functions that turn its records into ops, in model/go/observe.c and in
 * model/threads/observe.c. NULL: its records make no ops there.
 *
 * In the comments, "curg" is the goroutine of the thread that was hit (m.curg), or 0 if the thread runs only
 * scheduler code. Every probe precedes the point where another thread can see the change that it reports
 * (design: order is causal).
 */

SITE(NONE, 0, NULL, NULL, NULL)
/* not a hit: a struct raw_stack */
SITE(STACK, 1, NULL, NULL, NULL)
/* not a hit: arg = number of the marker */
SITE(MARKER, 2, NULL, NULL, NULL)

/* goroutines; g = the goroutine that changes */

/*
 * park_m: running -> waiting. arg = block reason, arg2 = wait reason and what is waited for
 * (AWAITED_*). Go 1.4: no arg, and arg2 = the first eight bytes of the wait reason's text.
 */
SITE(PARK, 10, PROGRAM(park), on_park, NULL)
/* ready: waiting -> runnable. arg = curg (the waker), status = curg's if known, stack = curg's */
SITE(READY, 11, PROGRAM(ready), on_unblock, NULL)
/*
 * inline waiting -> runnable (netpoll, injectglist, GC workers). arg = curg, arg2 = the mode if g is
 * a GC worker (p.gcMarkWorkerMode)
 */
SITE(UNBLOCK, 12, PROGRAM(unblock), on_unblock, NULL)
/* execute: runnable -> running on this thread */
SITE(EXECUTE, 13, PROGRAM(execute), on_execute, NULL)
/* goschedImpl: running -> runnable. arg = 1 if preempted */
SITE(GOSCHED, 14, PROGRAM(gosched), on_gosched, NULL)
/* goyield_m: running -> runnable, "preempted" */
SITE(GOYIELD, 15, PROGRAM(goyield), on_gosched, NULL)
/* preemptPark: running -> waiting, "preempted" */
SITE(PREEMPTPARK, 16, PROGRAM(preemptpark), on_preemptpark, NULL)
/* gdestroy: running -> dead */
SITE(DESTROY, 17, PROGRAM(destroy), on_destroy, NULL)
/* newproc1: dead -> status. arg = curg (the creator), arg2 = g.startpc; goid may be 0 */
SITE(NEWPROC, 18, PROGRAM(newproc), on_newproc, NULL)
/* coroswitch_m: g hands over to arg = next g; arg2 = 1 if g ends */
SITE(CORO, 19, PROGRAM(coro), on_coro, NULL)
/*
 * execute, if no other switch is probed: how the goroutine last left its thread. arg = 1 if it
 * parked, 2 if it was preempted; arg2 as in SITE_PARK; stack = where it left
 */
SITE(RESUME, 20, NULL, on_execute, NULL)

/* system calls; g = the goroutine in the call */

/* kernel entry. arg = m.syscalltick, arg2 = number */
SITE(SYS_ENTER, 30, PROGRAM(sys_enter), on_sys_enter, NULL)
/* kernel exit. arg2 = number; goid and p are not set */
SITE(SYS_EXIT, 31, PROGRAM(sys_exit), on_syscall_exit, NULL)
/* entersyscallblock: running -> syscall, gives up its P */
SITE(SYSCALL_BLOCK, 32, PROGRAM(syscall_block), on_call_enter, NULL)
/* cgo: Go calls C: running -> syscall */
SITE(CGO_ENTER, 33, PROGRAM(cgo_enter), on_call_enter, NULL)
/* cgo: C returned, or calls back into Go: syscall -> running or runnable */
SITE(CGO_EXIT, 34, PROGRAM(cgo_exit), on_syscall_exit, NULL)
/* exitsyscall found no P: syscall -> runnable */
SITE(EXIT_NO_P, 35, PROGRAM(exit_no_p), on_exit_no_p, NULL)
/* a C thread enters Go: g starts in a system call */
SITE(NEEDM, 36, PROGRAM(needm), on_needm, NULL)
/* a C thread leaves Go for good: g ends in a system call */
SITE(DROPM, 37, PROGRAM(dropm), on_dropm, NULL)
/* cgo: a callback returns to C: running -> syscall */
SITE(CGO_RETURN, 38, PROGRAM(cgo_return), on_call_enter, NULL)

/* Ps; p = the P concerned, arg2 = its id */

/* this thread takes p; arg = 1: only for allocm, which borrows it to allocate a thread (0 in older logs) */
SITE(ACQUIREP, 50, PROGRAM(acquirep), on_acquirep, NULL)
/* this thread drops p */
SITE(RELEASEP, 51, PROGRAM(releasep), on_releasep, NULL)
/* p is taken from the thread arg (tid) in a system call (1.26) */
SITE(STEALP, 52, PROGRAM(stealp), on_take, NULL)
/* p is handed off; from a system call if it was in one (<= 1.25) */
SITE(HANDOFFP, 53, PROGRAM(handoffp), on_take, NULL)
/* this thread, entering a system call, gives p up for a stop-the-world */
SITE(GCWAIT, 54, PROGRAM(gcwait), on_gcwait, NULL)
/* arg = GOMAXPROCS */
SITE(PROCRESIZE, 55, PROGRAM(procresize), on_procresize, NULL)

/* the world; g = curg */

/* arg = reason */
SITE(STW_BEGIN, 60, PROGRAM(stw_begin), on_stw_begin, NULL)
SITE(STW_END, 61, PROGRAM(stw_end), on_stw_end, NULL)
SITE(GC_BEGIN, 62, PROGRAM(gc_begin), on_gc_begin, NULL)
SITE(GC_END, 63, PROGRAM(gc_end), on_gc_end, NULL)

/* the heap; g = curg. The last three are probe points only; no record has them. */

/* arg = bytes of live heap after the change */
SITE(HEAP_ALLOC, 70, PROGRAM(heap_alloc), on_heap_alloc, NULL)
/* arg = bytes at which the next cycle should end, 0 = none */
SITE(HEAP_GOAL, 71, PROGRAM(heap_goal), on_heap_goal, NULL)
/* the first span that an allocation sweeps. stack */
SITE(SWEEP_BEGIN, 72, PROGRAM(sweep_begin), on_sweep_begin, NULL)
/* after the last span; goid = its end in ns. arg = bytes swept, arg2 = bytes reclaimed */
SITE(SWEEP_END, 73, PROGRAM(sweep_end), on_sweep_end, NULL)
/* gcAssistAlloc: g has to help with marking. stack */
SITE(ASSIST_BEGIN, 74, PROGRAM(assist), on_assist_begin, NULL)
SITE(ASSIST_END, 75, PROGRAM(assist_end), on_assist_end, NULL)
/* after marking */
SITE(HEAP_RESET, 76, PROGRAM(heap_reset), NULL, NULL)
/* a span has been swept */
SITE(SWEEP_SPAN, 77, PROGRAM(sweep_span), NULL, NULL)
/* a range of pages has been inspected */
SITE(RECLAIM_CHUNK, 78, PROGRAM(reclaim_chunk), NULL, NULL)

/*
 * runtime/trace's annotations; g = the goroutine that makes them. Those with text are sent as a
 * struct raw_text.
 */

/* userTaskCreate. arg = task, arg2 = its parent; text = name */
SITE(TASK_BEGIN, 80, PROGRAM(task_begin), on_annotation, NULL)
/* userTaskEnd. arg = task */
SITE(TASK_END, 81, PROGRAM(task_end), on_annotation, NULL)
/* userRegion. arg = task; text = name */
SITE(REGION_BEGIN, 82, PROGRAM(region), on_annotation, NULL)
/* the same at its end */
SITE(REGION_END, 83, NULL, on_annotation, NULL)
/* userLog. arg = task; text = category, text 2 = message */
SITE(LOG, 84, PROGRAM(user_log), on_annotation, NULL)
/* StartRegion while the runtime's tracer is off. arg = task; text = name */
SITE(REGION_START, 85, PROGRAM(region_start), on_annotation, NULL)
/* the End of a Region from such a StartRegion; it is not known which */
SITE(REGION_STOP, 86, PROGRAM(region_stop), on_annotation, NULL)

/*
 * not a probe: the per-CPU clock fired while the thread ran; g = curg, p = m.p, stack:
 * RAW_STACK_SAMPLE
 */
SITE(CPU_SAMPLE, 90, NULL, NULL, NULL)

/* memory (--alloc); g = curg, status its own */

/* arg = address, arg2 = pages << 16 | span type << 8 | span class */
SITE(ALLOC_SPAN, 100, PROGRAM(alloc_span), on_memory, NULL)
/* arg = address */
SITE(ALLOC_SPAN_FREE, 101, PROGRAM(alloc_span_free), on_memory, NULL)
/* a goroutine stack: arg = lowest address, arg2 = bytes */
SITE(ALLOC_STACK, 102, PROGRAM(alloc_stack), on_memory, NULL)
/* arg = lowest address */
SITE(ALLOC_STACK_FREE, 103, PROGRAM(alloc_stack_free), on_memory, NULL)

/*
 * Threads of any program, reported by the kernel's tracepoints (LOG_TARGET_THREADS). In all of these,
 * goid = the process (tgid) concerned, p = the CPU, and `stack` is of native code (RAW_STACK_NATIVE).
 */

/*
 * sched_switch. tid = the thread that leaves the CPU, g = the thread that gets it; 0 = not traced.
 * status = enum left; arg = the system call that tid is in (none: it was preempted, or waits for a page)
 * and how long it ran (LEFT_*); arg2 = what it waits for (WAIT_*); stack = tid's, unless LEFT_RUNNABLE
 */
SITE(SWITCH, 110, NULL, NULL, on_switch)
/*
 * sched_waking. g = the thread woken; tid = the current thread, 0 in an interrupt; status = enum
 * waker; arg = the waker's process (WAKER_OTHER), or an enum interrupt (WAKER_INTERRUPT); stack = the
 * waker's (WAKER_THREAD only)
 */
SITE(WAKING, 111, NULL, NULL, on_waking)
/* tid = the creator; g = the new thread, arg = its process; status = enum fork; stack = tid's */
SITE(FORK, 112, NULL, NULL, on_fork)
/* tid ends. status = EXIT_OF_LAST if it is the last thread of its process */
SITE(THREAD_EXIT, 113, NULL, NULL, on_exit)
/* tid has executed a new program; g = the tid it had before */
SITE(EXEC, 114, NULL, NULL, on_exec)
/* sys_enter. arg = 1 + number, arg2 = as in SITE_SWITCH; stack */
SITE(SYSCALL, 115, NULL, NULL, on_call)
/* sys_exit. arg = 1 + number, arg2 = the result */
SITE(SYSCALL_DONE, 116, NULL, NULL, on_call_done)
/*
 * A struct raw_text: the name (comm) of thread tid, which is traced or a waker. Sent before the first
 * record that needs it, and when it changes.
 */
SITE(COMM, 117, NULL, NULL, NULL)
/*
 * --region, --task: a call of function `arg` (LOG_FUNCTION) begins or ends. arg2 = the caller's stack
 * pointer in both records, which distinguishes nested calls. stack: of a begin.
 */
SITE(FUNCTION_BEGIN, 118, PROGRAM(function_begin), on_annotation, on_function)
SITE(FUNCTION_END, 119, PROGRAM(function_end), on_annotation, on_function)
/* mmap with PROT_EXEC succeeded: the mappings have to be read again. No effect on the model. */
SITE(MAPPED, 120, NULL, NULL, NULL)
/*
 * A thread of a Go program, tid, had no CPU from arg (ns) until now; status = enum left.
 * LEFT_RUNNABLE: arg2 = how much of that time is due to its cgroup's quota, ns; g = the process whose
 * thread took its CPU, 0 = none, OFF_CPU_OWN = its own; goid, p = that thread's name (comm), 16
 * bytes. LEFT_ASLEEP, LEFT_DISK: g = 1 + number of the system call that tid is in; 0 = none (a page
 * fault); or OFF_CPU_CALL_UNKNOWN. LEFT_DEAD: tid has ended; arg = its CPU time, arg2 = how long it
 * waited for a CPU; both are totals in ns.
 */
SITE(OFF_CPU, 121, NULL, NULL, NULL)
/* --os=all: a thread of a Go program, tid, runs on CPU arg - 1 from now on; arg 0 = it has ended */
SITE(CPU, 122, NULL, NULL, NULL)

/*
 * runtime/pprof.runtime_setProfLabel: g's pprof labels change. A struct raw_text whose text is a list
 * of struct raw_label, each followed by its key and value. Empty: g has no labels from now on.
 */
SITE(LABELS, 125, PROGRAM(labels), on_annotation, NULL)
/* a plugin has been opened, and its code will run next. No record: see struct lease */
SITE(PLUGIN, 126, PROGRAM(plugin_opened), NULL, NULL)
/*
 * --requests: a request of preset `arg` (LOG_FUNCTION) begins or ends, with values (RAW_VALUES). A
 * begin that has only a route names the request that its goroutine is serving. stack: of a begin.
 */
SITE(REQUEST_BEGIN, 130, PROGRAM(request_begin), on_annotation, NULL)
SITE(REQUEST_END, 131, PROGRAM(request_end), on_annotation, NULL)
