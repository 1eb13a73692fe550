/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What passes from the BPF programs to user space, and the layout constants
 * that user space passes to them. The only header that both sides read.
 *
 * The numbers below are stored in raw logs: never renumber, only append.
 */
#ifndef GOTRACE_RECORD_H
#define GOTRACE_RECORD_H

#ifdef __VMLINUX_H__
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __s32 int32_t;
typedef __u64 uint64_t;
#else
#include <stdint.h>
#endif

/*
 * What a hit means. "curg" is the goroutine of the thread that was hit
 * (m.curg), 0 when it runs scheduler code only. Every probe stands before the
 * change it announces can be seen by another thread (design: order is causal).
 */
enum site {
	SITE_NONE = 0,
	SITE_STACK = 1,  /* not a hit: a struct raw_stack */
	SITE_MARKER = 2, /* not a hit: arg = number of the marker */

	/* goroutines; g = the goroutine that changes */
	SITE_PARK = 10, /* park_m: running -> waiting. arg = block reason, arg2 = wait reason; Go 1.4: no arg,
			 * and arg2 = the first eight bytes of the text of the wait reason */
	SITE_READY = 11,       /* ready: waiting -> runnable. arg = curg (the waker), stack = the waker's */
	SITE_UNBLOCK = 12,     /* inline waiting -> runnable (netpoll, injectglist, GC workers). arg = curg,
				* arg2 = what g is to do as a GC worker if it is one (p.gcMarkWorkerMode) */
	SITE_EXECUTE = 13,     /* execute: runnable -> running on this thread */
	SITE_GOSCHED = 14,     /* goschedImpl: running -> runnable. arg = 1 if preempted */
	SITE_GOYIELD = 15,     /* goyield_m: running -> runnable, "preempted" */
	SITE_PREEMPTPARK = 16, /* preemptPark: running -> waiting, "preempted" */
	SITE_DESTROY = 17,     /* gdestroy: running -> dead */
	SITE_NEWPROC =
		18, /* newproc1: dead -> status. arg = curg (the creator), arg2 = g.startpc; goid may be 0 */
	SITE_CORO = 19, /* coroswitch_m: g hands over to arg = next g; arg2 = 1 if g ends */
	/* execute, when nothing tells of the goroutine's leaving: how it left the last time. stack = its own
	   there, arg = 1 if it parked, 2 if it was
	   preempted, arg2 = wait reason */
	SITE_SPAN = 20,

	/* system calls; g = the goroutine in the call */
	SITE_SYS_ENTER = 30,     /* kernel entry. arg = m.syscalltick, arg2 = number */
	SITE_SYS_EXIT = 31,      /* kernel exit. arg2 = number; goid and p are not told */
	SITE_SYSCALL_BLOCK = 32, /* entersyscallblock: running -> syscall, gives P up */
	SITE_CALL_ENTER = 33,    /* cgo: Go calls C: running -> syscall */
	SITE_CALL_EXIT = 34,     /* cgo: C returned, or calls back into Go: syscall -> running or runnable */
	SITE_EXIT_NO_P = 35,     /* exitsyscall found no P: syscall -> runnable */
	SITE_NEEDM = 36,         /* a C thread enters Go: g is born in a system call */
	SITE_DROPM = 37,         /* a C thread leaves Go for good: g ends in a system call */
	SITE_CALL_RETURN = 38,   /* cgo: a callback returns to C: running -> syscall */

	/* Ps; p = the P concerned, arg2 = its id */
	SITE_ACQUIREP = 50,   /* this thread takes p */
	SITE_RELEASEP = 51,   /* this thread drops p */
	SITE_STEALP = 52,     /* p is taken from the thread arg (tid) in a system call (1.26) */
	SITE_HANDOFFP = 53,   /* p is handed off; from a system call if it was in one (<= 1.25) */
	SITE_GCWAIT = 54,     /* this thread, entering a system call, gives p up to a stop-the-world */
	SITE_PROCRESIZE = 55, /* arg = GOMAXPROCS */

	/* the world; g = curg */
	SITE_STW_BEGIN = 60, /* arg = reason */
	SITE_STW_END = 61,
	SITE_GC_BEGIN = 62,
	SITE_GC_END = 63,

	/* the heap; g = curg. The last three are places only: no record bears them. */
	SITE_HEAP_ALLOC = 70,  /* arg = bytes of live heap after the change */
	SITE_HEAP_GOAL = 71,   /* arg = bytes at which the next cycle is to end, 0 = none */
	SITE_SWEEP_BEGIN = 72, /* the first span that an allocation sweeps. stack */
	SITE_SWEEP_END = 73,   /* goid = ns: after the last span. arg = bytes swept, arg2 = bytes reclaimed */
	SITE_ASSIST_BEGIN = 74, /* gcAssistAlloc: g has to help with marking. stack */
	SITE_ASSIST_END = 75,
	SITE_HEAP_RESET = 76,    /* after marking */
	SITE_SWEEP_SPAN = 77,    /* a span has been swept */
	SITE_RECLAIM_CHUNK = 78, /* a stretch of pages has been gone through */

	/* runtime/trace's annotations; g = who makes them. Those with a text come as a struct raw_text */
	SITE_TASK_BEGIN = 80,   /* userTaskCreate. arg = task, arg2 = its parent; text = name */
	SITE_TASK_END = 81,     /* userTaskEnd. arg = task */
	SITE_REGION_BEGIN = 82, /* userRegion. arg = task; text = name */
	SITE_REGION_END = 83,   /* the same at its end */
	SITE_LOG = 84,          /* userLog. arg = task; text = category, text 2 = message */
	SITE_REGION_START = 85, /* StartRegion while the runtime's tracer is off. arg = task; text = name */
	SITE_REGION_STOP = 86,  /* End of the Region that StartRegion gives then: which one is not told */

	/* not a site: the clock struck while the thread ran; g = curg, p = m.p, stack: RAW_STACK_SAMPLE */
	SITE_CPU_SAMPLE = 90,

	/* memory (--alloc); g = curg, status its own */
	SITE_ALLOC_SPAN = 100,      /* arg = address, arg2 = pages << 16 | what it is for << 8 | span class */
	SITE_ALLOC_SPAN_FREE = 101, /* arg = address */
	SITE_ALLOC_STACK = 102,     /* a goroutine's: arg = lowest address, arg2 = bytes */
	SITE_ALLOC_STACK_FREE = 103, /* arg = lowest address */

	/*
	 * Threads of any program, seen by the kernel's tracepoints (LOG_TARGET_THREADS). In all of them
	 * goid = the process (tgid) it is about, p = the CPU, and `stack` is of native code
	 * (RAW_STACK_NATIVE).
	 */
	/* sched_switch. tid = who leaves the CPU, 0 = none of ours; g = who comes, 0 = none of ours; status =
	   enum left; arg = the system call it is in, 1 + number, 0 = none (then it was preempted, or waits
	   for a page); arg2 = what it waits for (WAIT_*); stack = of who leaves, unless LEFT_RUNNABLE */
	SITE_SWITCH = 110,
	/* sched_waking. g = who is woken; tid = who runs there, 0 if it is an interrupt; status = enum waker;
	   arg = WAKER_OTHER: its process, WAKER_INTERRUPT: enum interrupt; stack = the waker's, WAKER_THREAD
	   only */
	SITE_WAKING = 111,
	/* tid = the creator; g = the new thread; arg = its process; status = enum fork; stack = the creator's
	 */
	SITE_FORK = 112,
	SITE_THREAD_EXIT = 113, /* tid ends. status = EXIT_OF_LAST, if no thread of its process goes on */
	SITE_EXEC = 114,        /* tid runs another program from now on; g = the tid it had before */
	SITE_CALL = 115,        /* sys_enter. arg = 1 + number, arg2 = as of SITE_SWITCH; stack */
	SITE_CALL_DONE = 116,   /* sys_exit. arg = 1 + number, arg2 = the result */
	/* A struct raw_text: the name (comm) of thread tid, of ours or of a waker; before the first record
	   that needs it, and when it changes */
	SITE_COMM = 117,
	/* --region, --task: a call of function `arg` (LOG_FUNCTION) begins, or is over. arg2 = the stack
	   pointer that the caller has, in both: which call of several */
	SITE_FUNCTION_BEGIN = 118, /* stack */
	SITE_FUNCTION_END = 119,
	/* mmap with PROT_EXEC succeeded, or munmap of code: the mappings are to be read anew. No effect on
	   the model. */
	SITE_MAPPED = 120,
};

/* How a thread left its CPU. */
enum left {
	LEFT_RUNNABLE = 0,
	LEFT_ASLEEP = 1,  /* interruptible */
	LEFT_DISK = 2,    /* uninterruptible */
	LEFT_STOPPED = 3, /* by a signal or a debugger */
	LEFT_DEAD = 4,
};

enum fork {
	FORK_ALONE = 0,    /* a thread of the same process, or a process that is not looked at */
	FORK_FOLLOWED = 1, /* a process that is looked at from now on */
};

#define EXIT_OF_LAST 1u

enum waker {
	WAKER_THREAD = 1,    /* of the same process */
	WAKER_OTHER = 2,     /* of another process */
	WAKER_INTERRUPT = 3, /* whoever runs there has nothing to do with it */
};

enum interrupt {
	INTERRUPT_OTHER = 0,
	INTERRUPT_TIMER = 1,
	INTERRUPT_NET = 2,
	INTERRUPT_DISK = 3,
};

/*
 * What a thread in a system call waits for: the descriptor that the call is
 * about, what kind of file it is, and a mark by which a descriptor that was
 * closed and opened anew is told from the one before. The text is in LOG_FILE.
 */
enum file_kind {
	FILE_NONE = 0, /* the call is about no descriptor; poll and select: or about several, as many as
			  WAIT_FD */
	FILE_OTHER = 1,
	FILE_SOCKET = 2,
	FILE_PIPE = 3,
	FILE_REGULAR = 4, /* and directories, block devices */
	FILE_TTY = 5,     /* character devices */
	FILE_EPOLL = 6,   /* epoll: network if any socket is watched; it is taken to be */
	FILE_EVENT = 7,   /* eventfd, timerfd, signalfd, inotify */
};

#define WAIT_FD(wait)   ((uint32_t)(wait))               /* unless FILE_NONE */
#define WAIT_KIND(wait) ((uint8_t)((wait) >> 32 & 0xff)) /* enum file_kind */
#define WAIT_MARK(wait) ((uint32_t)((wait) >> 40))
#define WAIT_MAKE(kind, fd, mark)                                                                            \
	((uint64_t)(uint32_t)(fd) | (uint64_t)(uint8_t)(kind) << 32 | (uint64_t)(mark) << 40)

/*
 * What a probe of --region and --task knows of its place (the attach cookie): the function's number; how far
 * the caller's stack pointer is above the one there, in words; when a conditional jump leaves the function
 * (0: always, else 1 + the condition's code); where it begins: whether it ends there, too.
 */
#define FUNCTION_NUMBER(cookie)    ((uint32_t)((cookie)&0xffff))
#define FUNCTION_DISTANCE(cookie)  ((cookie) >> 16 & 0xffff)
#define FUNCTION_CONDITION(cookie) ((uint32_t)((cookie) >> 32 & 0x1f))
#define FUNCTION_ENDS_THERE        (1ull << 40)
#define FUNCTION_COOKIE(number, words, condition)                                                            \
	((uint64_t)(number) | (uint64_t)(words) << 16 | (uint64_t)(condition) << 32)

/* Of the number of the file's inode: sockets and pipes have one of their own each. */
static inline uint32_t wait_mark(uint64_t inode)
{
	return (uint32_t)(inode * 0x9e3779b97f4a7c15ull >> 40);
}

/* The goroutine woke in vain, another was faster: traceFutileWakeup, Go 1.5 to 1.20 runtime/trace.go. */
#define PARK_FUTILE 0x80u

/* What a span is for: spanAllocType, Go 1.23 to 1.26 runtime/mheap.go; the others are not for objects. */
#define SPAN_FOR_HEAP 0u

/* The sites that an allocation comes by, again and again; not those of a cycle as a whole. */
static inline int is_heap_site(uint8_t site)
{
	return site == SITE_HEAP_ALLOC || site == SITE_SWEEP_BEGIN || site == SITE_SWEEP_END ||
	       site == SITE_SWEEP_SPAN || site == SITE_RECLAIM_CHUNK;
}

/* raw_record.flags, raw_stack.flags */
enum raw_flags {
	RAW_STACK_BROKEN = 1, /* the walk ended in memory that could not be read or was no frame */
	RAW_STACK_CUT = 2,    /* the walk ended at STACK_DEPTH */
	RAW_UNREADABLE = 4,   /* g, m or p could not be read: ids are 0; raw_text: a text, which is empty */
	/*
	 * raw_stack: of SITE_CPU_SAMPLE. pcs[0] is the interrupted instruction's address plus 1. pcs[1] is
	 * the return address of its function if that has no frame of its own there, which user space finds
	 * out; it may be anything else that looks like one, or 0.
	 */
	RAW_STACK_SAMPLE = 8,
	/*
	 * raw_stack: no walk. pcs[0] is the leaf as in any stack; the others are words of the stack's memory
	 * that lie in Go's code, lowest first, each with its distance from the stack pointer at the leaf, in
	 * words, above SCAN_SHIFT. Which of them are return addresses the tables of frame sizes tell.
	 */
	RAW_STACK_SCAN = 16,
	/*
	 * raw_stack: of native code, walked by .eh_frame. pcs[0] is a return address, too, or the address of
	 * the instruction that runs next plus 1; all of them are looked up at pc - 1.
	 */
	RAW_STACK_NATIVE = 32,
};

#define SCAN_SHIFT 48u /* addresses of a process on amd64 have 47 bits */
#define SCAN_FRAME                                                                                           \
	(0xffffull << SCAN_SHIFT) /* the first ones with it are frames that stand for the leaf's             \
				   */
#define SCAN_DEPTH    250         /* of a RAW_STACK_SCAN, instead of STACK_DEPTH */
#define SCANNED_STACK 0x200u      /* in the hash: such stacks are hashed apart */
#define NATIVE_STACK  0x400u      /* the same, of a RAW_STACK_NATIVE */

/* Go keeps at most 128 logical frames; a few more are read for those it skips at the leaf. */
#define STACK_DEPTH 136

/* One hit. Pointers are addresses in the target; 0 where there is none. */
struct raw_record {
	uint32_t tid;   /* kernel thread id of the thread that was hit */
	uint8_t site;   /* enum site */
	uint8_t status; /* g.atomicstatus without the scan bit before the change; SITE_NEWPROC: the new one */
	uint16_t flags; /* enum raw_flags */
	uint64_t time;  /* CLOCK_MONOTONIC, ns */
	uint64_t g;
	uint64_t goid;
	uint64_t p;     /* this thread's P (m.p; in a system call of <= 1.25 m.oldp), or the P concerned */
	uint64_t stack; /* hash of a raw_stack sent before, 0 = none */
	uint64_t arg;
	uint64_t arg2;
};

/* A stack, sent once before its first use. Followed by n return addresses, leaf first. */
struct raw_stack {
	uint32_t n;
	uint8_t site; /* SITE_STACK */
	uint8_t skip; /* logical frames to leave out at the leaf, after inline expansion */
	uint16_t flags;
	uint64_t hash; /* over pcs and skip; never 0 */
	uint64_t pcs[];
};

/* What the runtime's own tracer keeps of a text (maxTraceStringLen, Go 1.22 ... 1.26 runtime/tracestring.go).
 */
#define TEXT_MAX 1024u

/* A hit with texts of the program's: any bytes. */
struct raw_text {
	struct raw_record record;
	uint16_t len, len2; /* of the first text and of the second, which follows it; at most TEXT_MAX each */
	/* In the ring only: a text that was not in memory stands as its address (8 bytes), this is its
	 * length. */
	uint16_t away, away2;
	char text[];
};

/* A thread as a look at all of them finds it. */
struct raw_thread {
	uint32_t tid, tgid;
	uint32_t cpu;    /* where it runs or ran last */
	uint8_t on_cpu;  /* it runs */
	uint8_t exiting; /* it is about to end, and has no memory to look at */
	uint8_t left;    /* enum left, unless it runs */
	uint8_t reserved;
	uint64_t start_ns;   /* CLOCK_BOOTTIME */
	uint64_t call, wait; /* as raw_record.arg, arg2 of SITE_SWITCH */
	uint64_t ip, sp, bp; /* of user mode: ip as in a RAW_STACK_NATIVE; 0: it has none */
	uint64_t link;     /* where a leaf may have its return address: arm64's x30, amd64's rdi in a call */
	uint64_t switches; /* how often it has left a CPU */
	char comm[16];
};

/* A thread's ids in the initial pid namespace and in gotrace's own, which is so deep. */
struct id_pair {
	uint32_t outer, own, level;
};

/*
 * Byte offsets of the release's structs, and constants of the binary. An
 * offset that the release does not have is LAYOUT_ABSENT.
 */
#define LAYOUT_ABSENT 0xffffffffu

struct go_layout {
	int32_t tls_g; /* g is at fsbase + tls_g */
	uint32_t g_stack_lo, g_stack_hi;
	uint32_t g_m;
	uint32_t g_sched_sp, g_sched_pc, g_sched_bp;
	uint32_t g_syscallsp, g_syscallpc, g_syscallbp;
	uint32_t g_status, g_goid;
	uint32_t g_waitreason, g_preempt;
	uint32_t g_startpc, g_gopc, g_parent_goid;
	uint32_t g_coroarg, g_coroexit;
	uint32_t g_sync_safe_point;
	uint32_t m_g0, m_gsignal, m_curg, m_p, m_oldp;
	uint32_t m_procid;
	uint32_t m_syscalltick;
	uint32_t m_block_reason, m_trace_skip;
	uint32_t m_alllink;
	uint32_t p_id, p_status, p_m, p_syscalltick;
	uint32_t p_goidcache, p_goidcacheend; /* needed where newproc1 sets goid late (<= 1.23) */
	uint32_t p_gc_mark_worker_mode;
	uint32_t coro_gp;
	uint32_t g_in_mark_assist;
	uint32_t span_npages, span_alloc_count, span_elemsize;
	uint32_t gc_percent, gc_heap_live; /* of gcControllerState */
	/* Link-time addresses of type descriptors: of a task's key in a context, and *trace.Task. */
	uint64_t task_key_type, task_type;
	/* arm64: the register that is zero at the jump in StartRegion while the runtime's tracer is off. */
	uint32_t region_flag_register;
};

/*
 * Addresses in the process: not constants, for a program that gotrace starts
 * gets its place in memory when the programs are loaded already. 0 = not known.
 */
struct go_places {
	uint64_t text, etext; /* Go's code */
	uint64_t gopark, gopark_end;
	/*
	 * Where callbacks from C come in: their frames lie on the goroutine's stack right below those of
	 * cgocall, but the chain of frame pointers leads away to C's stack in cgocallback. 0 without cgo.
	 */
	uint64_t cgocallback, cgocallback_end;
	uint64_t cgocall, cgocall_end;
	uint64_t cgocall_frame; /* how far its frame pointer is above its stack pointer */
	/* Up to 1.20, where a goroutine leaves its thread: by which call of its own, for there is a caller
	 * without one. */
	uint64_t stack_switch, stack_switch_end;   /* runtime.systemstack_switch */
	uint64_t async_preempt, async_preempt_end; /* runtime.asyncPreempt2 */
	uint64_t goyield, goyield_end;             /* runtime.goyield */
	uint64_t syscalls, syscalls_end; /* up to 1.18: from syscall.Syscall to where syscall.Syscall6 ends */
	/* In the calls by which these tell the runtime's tracer. */
	uint64_t injectglist_tells; /* GoUnpark */
	uint64_t sweep_tells;       /* GCSweepSpan */
	uint64_t sweep_teller;      /* up to 1.21, in the call by which that tells: it is part of the stack */
	uint64_t assist_tells;      /* GCMarkAssistStart */
	uint64_t gc_controller;     /* runtime.gcController; up to Go 1.16 memstats, 0 in 1.4 */
	/* Who sweeps spans in order to allocate. */
	uint64_t cache_span, cache_span_end;       /* runtime.(*mcentral).cacheSpan */
	uint64_t reclaim_chunk, reclaim_chunk_end; /* runtime.(*mheap).reclaimChunk */
	uint64_t deduct, deduct_end;               /* runtime.deductSweepCredit, by sweepone */
	/* Who stops the world in the name of the collector: up to Go 1.20 the caller is the reason. */
	uint64_t gc_start, gc_start_end;         /* runtime.gcStart: to end the sweep */
	uint64_t gc_mark_done, gc_mark_done_end; /* runtime.gcMarkDone: to end marking */
	uint64_t next_gc;                /* up to Go 1.18: heapGoal of gcController; up to 1.16 of memstats */
	uint64_t gc_worker;              /* up to Go 1.15: runtime.gcBgMarkWorker */
	uint64_t reclaim, reclaim_end;   /* runtime.(*mheap).reclaim, by sweepone: up to 1.11 */
	uint64_t newstack, newstack_end; /* runtime.newstack: in 1.4 */
	uint64_t assist_teller;          /* up to 1.11, in the call by which traceGCMarkAssistStart tells */
};

/* Where a value is at a place in the code: in a register (numbers of the machine code), or on the stack. */
struct value_place {
	uint32_t on_stack; /* 0: in reg; 1: in memory at the stack pointer + slot */
	uint32_t reg, slot;
};

/* A wait reason of Go up to 1.10, enough to tell it from the others. */
struct wait_text {
	uint64_t begin; /* its first eight bytes, 0 behind a shorter one */
	uint64_t len;   /* 0: no text has this number */
};

#define WAIT_TEXTS 32

/* What the probes of --alloc need of the binary. */
struct alloc_layout {
	uint32_t span_base;                        /* of mspan.startAddr */
	struct value_place stack_base, stack_size; /* in runtime.stackalloc, once it has the stack */
};

#endif
