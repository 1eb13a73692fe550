/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Records that pass from the BPF programs to user space, and layout constants that user space passes to the
 * programs. Both sides include this header.
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

/* What a hit means: bpf/site_list.h says it of each. */
enum site {
#define SITE(name, number, program, go_handler, threads_handler) SITE_##name = number,
#include "bpf/site_list.h"
#undef SITE
};

#define OFF_CPU_OWN          0xffffffffffffffffull
#define OFF_CPU_CALL_UNKNOWN 0xffffffffffffffffull

/* How a thread left its CPU. */
enum left {
	LEFT_RUNNABLE = 0,
	LEFT_ASLEEP = 1,  /* interruptible */
	LEFT_DISK = 2,    /* uninterruptible; of SITE_SWITCH, counted by the kernel as I/O */
	LEFT_STOPPED = 3, /* by a signal or a debugger */
	LEFT_DEAD = 4,
	/* SITE_OFF_CPU: it kept its CPU; its latest interrupts took the record's time minus arg. */
	LEFT_INTERRUPTED = 5,
	LEFT_IN_KERNEL = 6, /* SITE_SWITCH: uninterruptible, and not for I/O: mostly a lock of the kernel's */
};

/* arg of SITE_SWITCH */
#define LEFT_CALL(arg)   ((uint32_t)(arg)) /* 1 + number of the system call, 0 = none */
#define LEFT_RAN_US(arg) ((arg) >> 32) /* CPU time in us since the thread came to the CPU, 0 = not known */

enum fork {
	FORK_ALONE = 0,    /* a thread of the same process, or a process that is not traced */
	FORK_FOLLOWED = 1, /* a process that is traced from now on */
};

#define EXIT_OF_LAST 1u

enum waker {
	WAKER_THREAD = 1,    /* of the same process */
	WAKER_OTHER = 2,     /* of another process */
	WAKER_INTERRUPT = 3, /* an interrupt, unrelated to the thread that it interrupted */
};

enum interrupt {
	INTERRUPT_OTHER = 0,
	INTERRUPT_TIMER = 1,
	INTERRUPT_NET = 2,
	INTERRUPT_DISK = 3,
};

/*
 * In arg2 of SITE_PARK and SITE_RESUME, above the wait reason: the kind and address of what the goroutine
 * waits for. 0 = not known.
 */
enum awaited_kind {
	AWAITED_NONE = 0,
	AWAITED_CHANNEL = 1,     /* runtime.hchan */
	AWAITED_SEMAPHORE = 2,   /* a word in a Mutex, RWMutex, WaitGroup, ... */
	AWAITED_NOTIFY_LIST = 3, /* in a Cond */
};

#define AWAITED_BITS           47u /* of a user-space address */
#define AWAITED_REASON(arg2)   ((uint8_t)(arg2))
#define AWAITED_ADDRESS(arg2)  ((uint64_t)(arg2) >> 8 & ((1ull << AWAITED_BITS) - 1))
#define AWAITED_KIND(arg2)     ((uint8_t)((uint64_t)(arg2) >> 56 & 3))
#define AWAITED(kind, address) ((uint64_t)(kind) << 56 | (uint64_t)(address) << 8)

/*
 * What a thread in a system call waits for: the call's descriptor, the kind of its file, and a mark that
 * distinguishes a descriptor that was closed and opened again from its predecessor. LOG_FILE describes the
 * file.
 */
enum file_kind {
	FILE_NONE = 0, /* no descriptor; for poll and select, WAIT_FD is the number of descriptors */
	FILE_OTHER = 1,
	FILE_SOCKET = 2,
	FILE_PIPE = 3,
	FILE_REGULAR = 4, /* also directories and block devices */
	FILE_TTY = 5,     /* character devices */
	FILE_EPOLL = 6,   /* assumed to be network */
	FILE_EVENT = 7,   /* eventfd, timerfd, signalfd and the like */
	FILE_FUTEX = 8,   /* no file: the call waits on a futex; WAIT_FUTEX_ADDRESS */
	FILE_LOCK = 9,    /* the same, and its value is that of a lock with waiters */
};

#define WAIT_FD(wait)   ((uint32_t)(wait))               /* unless FILE_NONE */
#define WAIT_KIND(wait) ((uint8_t)((wait) >> 32 & 0xff)) /* enum file_kind */
#define WAIT_MARK(wait) ((uint32_t)((wait) >> 40))
#define WAIT_MAKE(kind, fd, mark)                                                                            \
	((uint64_t)(uint32_t)(fd) | (uint64_t)(uint8_t)(kind) << 32 | (uint64_t)(mark) << 40)
/* A user-space address has at most 56 bits. */
#define WAIT_FUTEX(kind, address) WAIT_MAKE(kind, address, (uint64_t)(address) >> 32)
#define WAIT_FUTEX_ADDRESS(wait)  ((uint64_t)WAIT_MARK(wait) << 32 | WAIT_FD(wait))
#define WAIT_IS_FUTEX(wait)       (WAIT_KIND(wait) == FILE_FUTEX || WAIT_KIND(wait) == FILE_LOCK)

/*
 * Attach cookie of a --region or --task probe: the function's number; the distance from the stack pointer at
 * the probe up to the caller's, in words; the condition on which a conditional jump leaves the function (0:
 * none, else 1 + the condition's code). At a function's begin: whether the call ends there, too. At an end:
 * whether the instruction is a plain `ret`, and its offset within its page (bpf/return.bpf.h).
 */
#define FUNCTION_NUMBER(cookie)    ((uint32_t)((cookie)&0xffff))
#define FUNCTION_DISTANCE(cookie)  ((cookie) >> 16 & 0xffff)
#define FUNCTION_CONDITION(cookie) ((uint32_t)((cookie) >> 32 & 0x1f))
#define FUNCTION_ENDS_THERE        (1ull << 40)
#define FUNCTION_RETURNS           (1ull << 41)
#define FUNCTION_PLACE(cookie)     ((cookie) >> 42 & 0xfff)
#define FUNCTION_VALUES(cookie)    ((uint32_t)((cookie) >> 54)) /* number of its value_rules, 0: none */
#define FUNCTION_READS(values)     ((uint64_t)(values) << 54)
#define FUNCTION_RETURN_AT(place)  (FUNCTION_RETURNS | ((uint64_t)(place)&0xfff) << 42)
#define FUNCTION_COOKIE(number, words, condition)                                                            \
	((uint64_t)(number) | (uint64_t)(words) << 16 | (uint64_t)(condition) << 32)

/* Derives a mark from a file's inode number. Every socket and pipe has its own inode. */
static inline uint32_t wait_mark(uint64_t inode)
{
	return (uint32_t)(inode * 0x9e3779b97f4a7c15ull >> 40);
}

/* A futile wakeup: another goroutine was faster (traceFutileWakeup, Go 1.5 to 1.20 runtime/trace.go). */
#define PARK_FUTILE 0x80u

/* Span type: spanAllocType, Go 1.23 to 1.26 runtime/mheap.go. The other types do not hold objects. */
#define SPAN_FOR_HEAP 0u

/* True for the sites that allocations hit repeatedly; false for those of a whole GC cycle. */
static inline int is_heap_site(uint8_t site)
{
	return site == SITE_HEAP_ALLOC || site == SITE_SWEEP_BEGIN || site == SITE_SWEEP_END ||
	       site == SITE_SWEEP_SPAN || site == SITE_RECLAIM_CHUNK;
}

/* raw_record.flags, raw_stack.flags */
enum raw_flags {
	RAW_STACK_BROKEN = 1, /* the walk reached memory that could not be read or was no frame */
	RAW_STACK_CUT = 2,    /* the walk ended at STACK_DEPTH */
	/* g, m or p could not be read, and ids are 0; raw_text: a text could not be read and is empty. */
	RAW_UNREADABLE = 4,
	/*
	 * raw_stack: of SITE_CPU_SAMPLE. pcs[0] is the interrupted instruction's address plus 1. pcs[1] is
	 * the return address of its function, if that function has no frame at this point, which user space
	 * determines. Otherwise pcs[1] may be any word that points into Go's code, or 0.
	 */
	RAW_STACK_SAMPLE = 8,
	/*
	 * raw_stack: not walked. pcs[0] is the leaf, as in any stack. The others are words of stack memory
	 * that point into Go's code, lowest address first; their bits from SCAN_SHIFT on are the distance
	 * from the leaf's stack pointer, in words. The tables of frame sizes show which of them are return
	 * addresses.
	 */
	RAW_STACK_SCAN = 16,
	/*
	 * raw_stack: of native code, walked by .eh_frame. pcs[0] too is a return address, or the address of
	 * the next instruction plus 1; all of them are looked up at pc - 1.
	 */
	RAW_STACK_NATIVE = 32,
	/* SITE_NEWPROC: g has labels, which are those of its creator. */
	RAW_HAS_LABELS = 64,
	/* SITE_LABELS: labels, or parts of their texts, were left out. */
	RAW_LABELS_CUT = 128,
	RAW_VALUES = 256, /* a raw_text whose texts are values (struct raw_value) */
};

#define SCAN_SHIFT 48u /* user-space addresses on amd64 have 47 bits */
#define SCAN_FRAME                                                                                           \
	(0xffffull << SCAN_SHIFT) /* distance of leading entries that are frames replacing the leaf's */
#define SCAN_DEPTH    250         /* of a RAW_STACK_SCAN, instead of STACK_DEPTH */
#define SCANNED_STACK 0x200u      /* in the hash: keeps these stacks apart from others */
#define NATIVE_STACK  0x400u      /* the same for a RAW_STACK_NATIVE */

/* Go keeps at most 128 logical frames. A few more are read to make up for those skipped at the leaf. */
#define STACK_DEPTH 136

/* One hit. Pointers are addresses in the target; 0 = none. */
struct raw_record {
	uint32_t tid;   /* kernel thread id of the thread that was hit */
	uint8_t site;   /* enum site */
	uint8_t status; /* g.atomicstatus before the change (SITE_NEWPROC: after), without the scan bit */
	uint16_t flags; /* enum raw_flags */
	uint64_t time;  /* CLOCK_MONOTONIC, ns */
	uint64_t g;
	uint64_t goid;
	uint64_t p;     /* this thread's P (m.p; in a system call up to 1.25 m.oldp), or the P concerned */
	uint64_t stack; /* hash of a raw_stack sent before, 0 = none */
	uint64_t arg;
	uint64_t arg2;
};

/* A stack, sent once before its first use. Followed by n return addresses, leaf first. */
struct raw_stack {
	uint32_t n;
	uint8_t site; /* SITE_STACK */
	uint8_t skip; /* logical frames to leave out at the leaf, counted after inline expansion */
	uint16_t flags;
	uint64_t hash; /* over pcs and skip; never 0 */
	uint64_t pcs[];
};

/*
 * The runtime's own tracer truncates strings to this length (maxTraceStringLen, Go 1.22 ... 1.26
 * runtime/tracestring.go).
 */
#define TEXT_MAX 1024u

/* A hit with strings from the program, which may hold any bytes. */
struct raw_text {
	struct raw_record record;
	/* Lengths of the first text, and of the second, which follows it; each at most TEXT_MAX. */
	uint16_t len, len2;
	/*
	 * In the ring only: the length of a text that could not be read, 0 = none. The record has the text's
	 * address (8 bytes) instead.
	 */
	uint16_t away_len, away_len2;
	char text[];
};

/*
 * Values that a hit reads. User space makes the rules, one struct value_rules for each probe that reads
 * values. The hit sends a raw_text with RAW_VALUES in its record's flags: the first text is an array of
 * struct raw_value, one for each rule, in their order; the second text has the bytes of those values that are
 * strings, one after the other.
 */
#define VALUES_MAX  4u    /* values of a hit */
#define VALUE_STEPS 4u    /* pointers to follow for one value */
#define VALUE_SETS  1023u /* value_rules; their numbers begin with 1 */

/* Stored in raw logs. */
enum value_kind {
	VALUE_SIGNED = 1,
	VALUE_UNSIGNED = 2,
	VALUE_BOOL = 3,
	VALUE_FLOAT = 4, /* 4 or 8 bytes, in memory */
	VALUE_POINTER = 5,
	VALUE_BYTES = 6,     /* 1 to 16 raw bytes, in memory */
	VALUE_GO_STRING = 7, /* pointer and length, or the first two words of a []byte */
	VALUE_C_STRING = 8,  /* a pointer to text that ends with a NUL */
	VALUE_CHARS = 9,     /* the text itself, in memory; ends with a NUL, or after `max` bytes */
};

/*
 * Where a value begins: the index of a word in struct pt_regs (code/isa/value_places.h has them by argument),
 * or VALUE_STACK: the caller's stack pointer. Up to Go 1.16, argument word n is in memory 8 * n bytes above
 * that.
 */
#define VALUE_REGS  34u /* words of arm64's struct pt_regs; amd64's has 21 */
#define VALUE_STACK 0xffu

/*
 * v = the register, or the stack pointer. For each offset but the last: v = the word at address v + offset.
 * The value is in memory at v + the last offset. With no steps the value is v itself (a Go string: the
 * registers place and place2).
 */
struct value_rule {
	uint8_t kind; /* enum value_kind */
	uint8_t size; /* bytes of a number, or of VALUE_BYTES */
	uint8_t place, place2;
	uint8_t nsteps; /* at most VALUE_STEPS */
	uint8_t reserved;
	uint16_t max; /* bytes of a text; the rest is cut off */
	int32_t offsets[VALUE_STEPS];
};

struct value_rules {
	uint32_t n;
	uint32_t reserved;
	struct value_rule rules[VALUES_MAX];
};

enum value_flags {
	VALUE_UNREADABLE = 1,
	VALUE_NULL = 2, /* with VALUE_UNREADABLE: because a pointer on the way is 0 */
	VALUE_CUT = 4,  /* the text was longer */
	/*
	 * In the ring only: the value is not in memory at the moment. `bits` is its address, and the second
	 * text has no bytes of it. User space reads it later.
	 */
	VALUE_AWAY = 8,
};

/* Maximum bytes of all strings of a hit, and of one string by default. The rest is cut off. */
#define VALUE_TEXTS_MAX 952u
#define VALUE_TEXT      200u

struct raw_value {
	uint8_t kind;  /* enum value_kind */
	uint8_t flags; /* enum value_flags */
	uint16_t len;  /* bytes in the second text; 0: the value is in `bits` */
	uint32_t size; /* bytes of a number */
	uint64_t bits; /* zero-extended; for a string: its whole length, if known */
};

/* A label in a SITE_LABELS. Its key and value follow. */
struct raw_label {
	uint16_t key_len, value_len; /* at most RAW_LABEL_TEXT */
};

#define RAW_LABELS     16u
#define RAW_LABEL_TEXT 128u
/* Flag in a length, in the ring only: the string was unreadable; the record has its address (8 bytes). */
#define RAW_LABEL_AWAY 0x8000u

/* Counters that the programs keep per CPU. */
enum counter {
	LOSS_RECORD, /* no memory to assemble a record with strings */
	LOSS_UNREADABLE,
	LOSS_SCRATCH_BUSY,
	LOSS_SAMPLE,
	HITS_SILENT, /* no loss: hits minus records, as a hit need not make one */
	/* no loss: the first program was skipped, but not its backup (bpf/recursion_backup.bpf.h) */
	HITS_BACKUP,
	HITS_UNWATCHED, /* no loss: hits while the lease was closed */
	RING_FULL,      /* no loss: how often a full ring closed the lease */
	TIMED_PROBES,   /* hits of uprobes that were timed, and the sum of their times */
	TIMED_PROBES_NS,
	TIMED_CALLS, /* the same for tracepoints */
	TIMED_CALLS_NS,
	ENDED_CPU_NS, /* CPU time of processes of a tree that have ended, and what they read and wrote */
	ENDED_BYTES,
	COUNTERS
};

#define LEASE_OPEN (1ull << 63)

/* The time until which hits are recorded; see bpf/lease.bpf.h. */
struct lease {
	uint64_t until;      /* kernel ticks; 0: closed */
	uint64_t closed_ns;  /* when a ring became full, CLOCK_MONOTONIC; 0: none is full */
	uint64_t plugin_ns;  /* when the program opened a plugin; 0: none since the lease was opened */
	uint64_t plugins;    /* opened so far */
	uint64_t renewed_ns; /* time of the last renewal, CLOCK_MONOTONIC */
};

/* A thread as the task iterator finds it. */
struct raw_thread {
	uint32_t tid, tgid;
	uint32_t cpu;    /* where it runs or last ran */
	uint8_t on_cpu;  /* 1: it is running */
	uint8_t exiting; /* it is exiting, and has no memory to read */
	uint8_t left;    /* enum left, unless it runs */
	uint8_t reserved;
	uint64_t start_ns;   /* start time, CLOCK_BOOTTIME */
	uint64_t call, wait; /* as arg and arg2 of SITE_SWITCH */
	uint64_t ip, sp, bp; /* in user mode; ip as in a RAW_STACK_NATIVE, 0: no user mode */
	uint64_t link;       /* a leaf's possible return address: arm64's x30, amd64's rdi in a call */
	uint64_t switches;   /* how often it has left a CPU */
	char comm[16];
};

/* A thread of a Go program that has lost its CPU (bpf/off_cpu.bpf.h). */
struct off_cpu_slot {
	uint32_t pid; /* 0: none */
	uint32_t tid;
	uint64_t since;     /* ns */
	uint64_t by;        /* raw_record.g of SITE_OFF_CPU */
	uint64_t queue;     /* the run queue in which it waits */
	uint64_t throttled; /* how long that queue had been throttled before, ns */
	uint64_t comm[2];
	uint8_t left; /* enum left */
	uint8_t is_throttled;
	uint8_t reserved[6];
	uint32_t cpu_pid, cpu_tid; /* --os=all: the thread that `cpu` is about, 0 = none */
	uint32_t cpu;              /* 1 + the CPU that this thread was last seen on */
	uint32_t reserved2;
};

#define OFF_CPU_SLOTS 16384u

/* A thread's ids in the initial pid namespace and in gotrace's own, and the level of the latter. */
struct id_pair {
	uint32_t outer, own, level;
};

/*
 * Byte offsets in the release's structs, and constants of the binary. LAYOUT_ABSENT: the release does not
 * have the field.
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
	uint32_t gc_percent, gc_heap_live; /* in gcControllerState */
	uint32_t g_bubble, bubble_root;    /* bubbles of testing/synctest that hide their root (since 1.25) */
	/* Link-time addresses of type descriptors: that of a task's key in a context, and that of
	 * *trace.Task. */
	uint64_t task_key_type, task_type;
	/* arm64: the register that is zero at the jump in StartRegion if the runtime's tracer is off. */
	uint32_t region_flag_register;
};

/*
 * Addresses in the process. They are not constants, because a program that gotrace starts gets its load
 * address only after the BPF programs are loaded. 0 = not known.
 */
#define MAX_PARK_COPIES 32

struct go_places {
	uint64_t text, etext; /* Go's code */
	uint64_t gopark, gopark_end;
	/*
	 * Entry point of callbacks from C. Their frames are on the goroutine's stack right below those of
	 * cgocall, but the chain of frame pointers leads to C's stack in cgocallback. 0 without cgo.
	 */
	uint64_t cgocallback, cgocallback_end;
	uint64_t cgocall, cgocall_end;
	uint64_t cgocall_frame; /* distance from its stack pointer up to its frame pointer */
	/* Up to 1.20: the calls by which a goroutine leaves its thread. One of them hides its caller from the
	 * chain. */
	uint64_t stack_switch, stack_switch_end;   /* runtime.systemstack_switch */
	uint64_t async_preempt, async_preempt_end; /* runtime.asyncPreempt2 */
	uint64_t goyield, goyield_end;             /* runtime.goyield */
	uint64_t syscalls, syscalls_end; /* up to 1.18: from syscall.Syscall to the end of syscall.Syscall6 */
	/* From 1.22 on. Between entersyscall and exitsyscall they enter the kernel once, by raw_syscall. */
	uint64_t syscall3, syscall3_end; /* syscall.Syscall */
	uint64_t syscall6, syscall6_end; /* syscall.Syscall6 */
	uint64_t raw_syscall, raw_syscall_end;
	/* runtime.allocm borrows a P: startm may call it, through newm, in entersyscallblock, which has given
	 * that P up. */
	uint64_t allocm, allocm_end;
	uint64_t newm, newm_end; /* it may be inlined there */
	/* Return addresses of the calls to the runtime's tracer in these functions. */
	uint64_t injectglist_trace_call; /* GoUnpark */
	uint64_t sweep_trace_call;       /* GCSweepSpan */
	uint64_t sweep_trace_callee;     /* up to 1.21, in the callee, which is part of the stack */
	uint64_t assist_trace_call;      /* GCMarkAssistStart */
	uint64_t gc_controller;          /* runtime.gcController; up to Go 1.16 memstats, 0 in 1.4 */
	/* Functions that sweep spans in order to allocate. */
	uint64_t cache_span, cache_span_end;       /* runtime.(*mcentral).cacheSpan */
	uint64_t reclaim_chunk, reclaim_chunk_end; /* runtime.(*mheap).reclaimChunk */
	uint64_t deduct, deduct_end;               /* runtime.deductSweepCredit, calls sweepone */
	uint64_t deduct_copy, deduct_copy_end;     /* another function that it is inlined in (PGO) */
	/* Functions that stop the world for the collector: up to Go 1.20 the caller is the reason. */
	uint64_t gc_start, gc_start_end;         /* runtime.gcStart: to finish sweeping */
	uint64_t gc_mark_done, gc_mark_done_end; /* runtime.gcMarkDone: to finish marking */
	/* Up to Go 1.18: heapGoal of gcController; up to 1.16 next_gc of memstats. */
	uint64_t next_gc;
	uint64_t gc_worker;              /* up to Go 1.15: runtime.gcBgMarkWorker */
	uint64_t reclaim, reclaim_end;   /* runtime.(*mheap).reclaim, calls sweepone up to 1.11 */
	uint64_t newstack, newstack_end; /* runtime.newstack, 1.4 only */
	/* Functions that park their goroutine; the first argument is the address of what it waits for. */
	uint64_t chanrecv, chanrecv_end;
	uint64_t chansend, chansend_end;
	uint64_t semacquire, semacquire_end;   /* runtime.semacquire1 */
	uint64_t notify_wait, notify_wait_end; /* sync.runtime_notifyListWait */
	/* Functions whose calls of gopark pass constants, as those of chanrecv and chansend do. */
	uint64_t selectgo, selectgo_end;
	uint64_t netpollblock, netpollblock_end;
	uint64_t time_sleep, time_sleep_end;
	uint64_t assist_trace_callee; /* up to 1.11, the call in traceGCMarkAssistStart */
	/* Return addresses of mcall in inlined copies of gopark; unused ones are 0. */
	uint64_t park_copies[MAX_PARK_COPIES];
};

/* Plugins of a Go program, at most. */
#define MAX_PLUGINS 16

/* Functions of the runtime of which a plugin has its own copy, and that are recognised by address. */
enum plugin_copy {
	PLUGIN_GOPARK,
	PLUGIN_CHANRECV,
	PLUGIN_CHANSEND,
	PLUGIN_SEMACQUIRE,
	PLUGIN_NOTIFY_WAIT,
	PLUGIN_CACHE_SPAN,
	PLUGIN_RECLAIM_CHUNK,
	PLUGIN_DEDUCT,
	PLUGIN_COPIES, /* a power of two */
};

struct place_range {
	uint64_t begin, end;
};

/* Addresses in the process: of a plugin's code, and of these functions in it; 0 = it has none. */
struct plugin_places {
	struct place_range text;
	struct place_range copies[PLUGIN_COPIES];
};

/* Where a value is at a given instruction: in a register (numbered as in machine code), or on the stack. */
struct value_place {
	uint32_t on_stack; /* 0: in reg; 1: in memory at the stack pointer + slot */
	uint32_t reg, slot;
};

/* A wait reason of Go up to 1.10: enough of it to distinguish it from the others. */
struct wait_text {
	uint64_t begin; /* its first eight bytes, zero-padded */
	uint64_t len;   /* 0: no wait reason has this number */
};

#define WAIT_TEXTS 32

/* Facts about the binary that the probes of --alloc need. */
struct alloc_layout {
	uint32_t span_base;                        /* offset of mspan.startAddr */
	struct value_place stack_base, stack_size; /* in runtime.stackalloc, once it has the stack */
};

#endif
