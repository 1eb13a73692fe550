/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An op is one step of the trace, valid where it stands: the list of ops in
 * its order keeps every rule of the trace formats (who runs where, what may
 * follow what). All formats, checks and exports read this list.
 */
#ifndef GOTRACE_OP_H
#define GOTRACE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/strtab.h"

/* The goroutine, thread (M) and P that an op does not have. */
#define NO_G 0u
#define NO_M 0u
#define NO_P (-1)

enum g_status { G_RUNNABLE = 1, G_RUNNING, G_SYSCALL, G_WAITING }; /* numbers of wire v2 */
enum p_status { P_RUNNING = 1, P_IDLE, P_SYSCALL, P_ABANDONED };

/*
 * "self" = the goroutine that m runs (or has in a system call) at the op; it
 * is always in op.g of ops that do not name another one. op.p is the P of m
 * at the op, or the P concerned. Fields not named are 0 / NO_P.
 */
enum op_kind {
	OP_NONE = 0, /* a place that was held and then not used: skip */
	/* statuses: all of them at the start of each generation, at its start time; a P also where it first
	   appears */
	OP_PROC_STATUS, /* p, status; m = who holds it or NO_M */
	OP_GO_STATUS,   /* g, status; m = who holds it or NO_M; stack = its own, 0 if not known; in the
			   first generation stack2 = its entry, 0 if not known; string = the reason why a
			   thread waits, if known (formats have no place for it) */
	/* Ps */
	OP_PROCS_CHANGE, /* arg = GOMAXPROCS, stack */
	OP_PROC_START,   /* m takes idle p */
	OP_PROC_STOP,    /* m drops p */
	OP_PROC_STEAL,   /* m takes p out of the system call of thread m2 (m2 may be m); p becomes idle */
	/* goroutines */
	OP_GO_CREATE,          /* self (or none) creates g2: runnable; stack2 = its entry, stack */
	OP_GO_CREATE_BLOCKED,  /* the same, born waiting */
	OP_GO_CREATE_SYSCALL,  /* g appears on m in a system call; stack2 = its entry, 0 if not known */
	OP_GO_START,           /* g runnable -> running on m, p */
	OP_GO_DESTROY,         /* self ends */
	OP_GO_DESTROY_SYSCALL, /* self ends in a system call; its P, if any, is abandoned */
	OP_GO_STOP,            /* self -> runnable; string = reason, stack */
	OP_GO_BLOCK,           /* self -> waiting; string = reason, stack; arg = 1: it had woken in vain */
	OP_GO_UNBLOCK, /* g2 waiting -> runnable; g = self or NO_G, m may be NO_M; stack = the waker's */
	OP_GO_SWITCH,  /* self -> waiting, g2 waiting -> running, in one step */
	OP_GO_SWITCH_DESTROY, /* self ends, g2 waiting -> running */
	/* system calls */
	OP_SYSCALL_BEGIN,       /* self -> syscall, p -> syscall; stack */
	OP_SYSCALL_END,         /* back with the same P */
	OP_SYSCALL_END_BLOCKED, /* P was lost: self -> runnable, off m */
	/* the world */
	OP_STW_BEGIN, /* string = kind, stack */
	OP_STW_END,
	OP_GC_ACTIVE,
	OP_GC_BEGIN, /* stack */
	OP_GC_END,
	OP_GC_SWEEP_ACTIVE,  /* p, m = who holds it or NO_M */
	OP_GC_SWEEP_BEGIN,   /* stack */
	OP_GC_SWEEP_END,     /* arg = bytes swept, arg2 = bytes reclaimed */
	OP_GC_ASSIST_ACTIVE, /* g, m = who holds it or NO_M */
	OP_GC_ASSIST_BEGIN,  /* stack */
	OP_GC_ASSIST_END,
	OP_HEAP_ALLOC, /* arg = bytes */
	OP_HEAP_GOAL,  /* arg = bytes */
	OP_GO_LABEL,   /* string */
	/* the user's annotations */
	OP_TASK_BEGIN,   /* arg = task, arg2 = parent, string = name, stack */
	OP_TASK_END,     /* arg = task, stack */
	OP_REGION_BEGIN, /* arg = task, string = name, stack */
	OP_REGION_END,
	OP_LOG,        /* arg = task, string = key, string2 = value, stack */
	OP_CPU_SAMPLE, /* m, p, g as sampled; stack; not part of the order */
	/* memory: addresses in bytes; those that are there where they are first known, at a generation's
	   start or later */
	OP_SPAN,       /* of the heap, exists: arg = address, arg2 = pages << 16 | class (struct log_area) */
	OP_SPAN_ALLOC, /* the same, just allocated */
	OP_SPAN_FREE,  /* arg = address */
	OP_GO_STACK,   /* of a goroutine, exists: arg = lowest address, arg2 = bytes, a power of two */
	OP_GO_STACK_ALLOC,
	OP_GO_STACK_FREE, /* arg = lowest address */
	OP_KIND_COUNT
};

/*
 * Formats may have no finer time than this, ns. What one event causes to
 * another is ordered by sequence numbers all the same. Where there are none this is
 * the least distance: behind the statuses and open ranges of a generation's start, and before a birth (after
 * the end of another goroutine of that id).
 */
#define OP_UNIT_NS 64u

struct op {
	uint64_t time; /* CLOCK_MONOTONIC, ns; strictly increasing over the whole trace, but that the statuses
			* at a generation's start all have its start time (and but for CPU samples) */
	uint64_t arg, arg2;
	uint32_t m, m2; /* kernel thread ids */
	uint32_t g, g2; /* indices in tables.goroutines: one per goroutine life */
	int32_t p;
	uint32_t stack, stack2;   /* ids in tables */
	uint32_t string, string2; /* ids in tables.strings; with TEXT_ID in tables.texts */
	uint8_t kind;             /* enum op_kind */
	uint8_t status;           /* enum g_status or p_status */
	bool inferred;            /* had no observation of its own */
};

struct frame; /* symbol/symbol.h */

/* A stack as the model has it: addresses to be expanded, or names that are already text; or, of a file,
 * frames.
 */
struct stack {
	const uint64_t *pcs; /* leaf first; with `literal`: string ids of function names */
	uint32_t n;
	uint8_t skip; /* logical frames to leave out at the leaf */
	bool literal;
	bool sample; /* of a CPU sample: the first two PCs are special (RAW_STACK_SAMPLE) */
	bool scan;   /* words of the stack instead of PCs (RAW_STACK_SCAN) */
	bool entry;  /* one PC: the entry of a goroutine's function plus 1; a wrapper stands for what it wraps
		      */
	const struct frame *frames; /* if not NULL: n of them, as they are to be written; pcs is not used */
	/* Of a thread, around what the addresses give; string ids, 0 = none. */
	uint32_t leaf; /* a frame more, first: what it waits for */
	uint32_t root; /* stands for the function's name in the last frame, or is the only one */
};

/* Messages of logs are mostly new each time: in op.string2 they are ids of a table of their own, plus this.
 */
#define TEXT_ID 0x80000000u

/* What ops refer to. Ids stay valid for the whole trace, those of texts for the generation; 0 is "none". */
struct tables {
	struct strtab *strings;
	const struct strtab *texts; /* of this generation; NULL = none */
	const uint64_t *goids;      /* by goroutine index: the runtime's goroutine id */
	uint32_t ngoroutines;
	const struct stack *stacks; /* by stack id */
	uint32_t nstacks;
	uint64_t heap_base; /* where the heap begins, or a little before; 0 = not known: no op is about memory
			     */
};

/* A stretch of the trace that stands alone: statuses first, then what happened. */
struct generation {
	uint32_t number; /* from 1 */
	bool last;
	uint64_t start, end;        /* ns; every op's time is in [start, end] */
	uint64_t mono_ns, wall_sec; /* one moment on both clocks, within [start, end] */
	uint32_t wall_nsec;
	const struct op *ops;
	size_t nops;
	const struct tables *tables;
};

/* What the next op must keep its distance from. */
struct op_spacing {
	uint64_t last;  /* time of the last op */
	uint64_t other; /* of the last one that was not of m's */
	uint32_t m;     /* whose the last one was */
};

/*
 * The earliest time of an op of m behind these. One that waits for another
 * thread's of the same unit may stop readers for good: after sorting its heads
 * by time Go's (1.22 to 1.26, internal/trace/reader.go, Reader.ReadEvent) does
 * not try the first one again.
 */
uint64_t op_earliest(const struct op_spacing *before, enum op_kind kind, uint32_t m);
/* It has got this time. */
void op_dated(struct op_spacing *before, uint32_t m, uint64_t time);

const char *op_name(enum op_kind kind); /* "GoBlock", for people and dumps */

#endif
