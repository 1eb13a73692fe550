/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An op is one step of the trace. A list of ops, in order, obeys every rule of the trace formats (which
 * goroutine runs where, which op may follow which). All formats, checks and exports read this list.
 */
#ifndef GOTRACE_TRACE_OPS_OP_H
#define GOTRACE_TRACE_OPS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/strtab.h"

/* No goroutine, thread (M) or P. */
#define NO_G 0u
#define NO_M 0u
#define NO_P (-1)

/* Numbers as in trace format v2. G_DEAD: not yet created, or ended. P_UNKNOWN: not yet known. */
enum g_status { G_DEAD = 0, G_RUNNABLE, G_RUNNING, G_SYSCALL, G_WAITING, G_STATUS_COUNT };
enum p_status { P_UNKNOWN = 0, P_RUNNING, P_IDLE, P_SYSCALL, P_ABANDONED, P_STATUS_COUNT };
/* GC_UNKNOWN: before the first event of a collection. */
enum gc_phase { GC_UNKNOWN, GC_OFF, GC_ON };

/*
 * "self" is the goroutine that m runs (or has in a system call) at the op. It is in op.g of every op that
 * does not name another goroutine there. op.p is the P of m at the op, or the P that the op is about. Fields
 * that are not listed are 0 / NO_P.
 */
enum op_kind {
	OP_NONE = 0, /* a reserved slot that was not used: skip */
	/* statuses: all at each generation's start, with its start time; a P also where it first appears */
	OP_PROC_STATUS, /* p, status; m = the thread that has it, or NO_M */
	/*
	 * g, status; m = the thread that has it, or NO_M; stack = its own, 0 = unknown. In the first
	 * generation, stack2 = its entry, 0 = unknown. string = why it waits, if known: for threads, and in
	 * the first generation (no format can express it)
	 */
	OP_GO_STATUS,
	/* Ps */
	OP_PROCS_CHANGE, /* arg = GOMAXPROCS, stack */
	OP_PROC_START,   /* m takes idle p */
	OP_PROC_STOP,    /* m drops p */
	OP_PROC_STEAL, /* m takes p from thread m2, which is in a system call (m2 may be m); p becomes idle */
	/* goroutines */
	OP_GO_CREATE,          /* self, or no goroutine, creates g2: runnable; stack2 = its entry, stack */
	OP_GO_CREATE_BLOCKED,  /* the same, but g2 waits */
	OP_GO_CREATE_SYSCALL,  /* g appears on m in a system call; stack2 = its entry, 0 = unknown */
	OP_GO_START,           /* g runnable -> running on m, p */
	OP_GO_DESTROY,         /* self ends */
	OP_GO_DESTROY_SYSCALL, /* self ends in a system call; its P, if any, is abandoned */
	OP_GO_STOP,            /* self -> runnable; string = reason, stack */
	OP_GO_BLOCK,           /* self -> waiting; string = reason, stack; arg = 1: after a futile wake-up */
	OP_GO_UNBLOCK, /* g2 waiting -> runnable; g = self or NO_G, m may be NO_M; stack = the waker's */
	OP_GO_SWITCH,  /* self -> waiting, g2 waiting -> running, in one step */
	OP_GO_SWITCH_DESTROY, /* self ends, g2 waiting -> running */
	/* system calls */
	OP_SYSCALL_BEGIN,       /* self -> syscall, p -> syscall; stack */
	OP_SYSCALL_END,         /* back with the same P */
	OP_SYSCALL_END_BLOCKED, /* self has lost its P: -> runnable, off m */
	/* the world */
	OP_STW_BEGIN, /* string = kind, stack */
	OP_STW_END,
	OP_GC_ACTIVE,
	OP_GC_BEGIN, /* stack */
	OP_GC_END,
	OP_GC_SWEEP_ACTIVE,  /* p, m = the thread that has it, or NO_M */
	OP_GC_SWEEP_BEGIN,   /* stack */
	OP_GC_SWEEP_END,     /* arg = bytes swept, arg2 = bytes reclaimed */
	OP_GC_ASSIST_ACTIVE, /* g, m = the thread that has it, or NO_M */
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
	OP_CPU_SAMPLE, /* m, p, g as sampled; stack; not ordered with the other ops */
	/*
	 * memory, in bytes; "exists" ops come where an area is first known, at a generation's start or later
	 */
	OP_MSPAN, /* a span of the heap exists: arg = address, arg2 = pages << 16 | class (struct log_area) */
	OP_MSPAN_ALLOC, /* a span was allocated: the same */
	OP_MSPAN_FREE,  /* arg = address */
	OP_GO_STACK,    /* a goroutine stack exists: arg = lowest address, arg2 = bytes, a power of two */
	OP_GO_STACK_ALLOC,
	OP_GO_STACK_FREE, /* arg = lowest address */
	OP_KIND_COUNT
};

/*
 * The coarsest time unit of the formats, ns. Sequence numbers order cause and effect within one unit. Where
 * there are none, ops are at least this far apart: after the statuses and open ranges of a generation's
 * start, and before the creation of a goroutine whose id belonged to one that ended.
 */
#define OP_UNIT_NS 64u

/* CPU time between two samples: Go's tracer and gotrace take 100 a second, unless another rate was asked for.
 */
#define USUAL_SAMPLE_NS 10000000u

struct op {
	/*
	 * CLOCK_MONOTONIC, ns. Strictly increasing over the whole trace, except that statuses at a
	 * generation's start have its start time, and that CPU samples are not ordered.
	 */
	uint64_t time;
	uint64_t arg, arg2;
	uint32_t m, m2; /* kernel thread ids */
	uint32_t g, g2; /* indices in tables.goids, one per goroutine life */
	int32_t p;
	uint32_t stack, stack2;   /* ids in tables */
	uint32_t string, string2; /* ids in tables.strings; with TEXT_ID in tables.texts */
	uint8_t kind;             /* enum op_kind */
	uint8_t status;           /* enum g_status or p_status */
	bool inferred;            /* not observed, but inferred from other observations */
};

struct frame; /* code/symbol/symbol.h */

/* A stack in the model: addresses to be expanded, or names as text, or frames read from a file. */
struct stack {
	const uint64_t *pcs; /* leaf first; if `literal`, string ids of function names */
	uint32_t n;
	uint8_t skip; /* logical frames to skip at the leaf */
	bool literal;
	bool sample; /* of a CPU sample: the first two PCs are special (RAW_STACK_SAMPLE) */
	bool scan;   /* pcs holds words of the stack, not return addresses (RAW_STACK_SCAN) */
	/* pcs holds one PC: a goroutine's function entry plus 1. A wrapper is replaced by its target. */
	bool entry;
	const struct frame *frames; /* if not NULL, n frames to be written unchanged; pcs is unused */
	/* For a thread: changes to the frames from the addresses. String ids, 0 = none. */
	uint32_t leaf; /* an additional leaf frame: what the thread waits for */
	uint8_t above; /* number of frames above that one, which are in the kernel */
	uint32_t root; /* replaces the function name of the last frame, or is the only frame */
	/* The walk did not reach the start. String id of a frame that says so, 0 = none; after it comes
	 * `root`, if there is one, or the last PC, if that is the start. */
	uint32_t cut;
	bool starts;
};

/*
 * Log messages rarely repeat, so they have a table of their own: op.string2 is an id in that table plus
 * TEXT_ID.
 */
#define TEXT_ID 0x80000000u

/*
 * Tables that ops refer to. Ids stay valid for the whole trace; ids of texts stay valid for the generation.
 * Id 0 is "none".
 */
struct tables {
	struct strtab *strings;
	const struct strtab *texts; /* of this generation; NULL = none */
	const uint64_t *goids;      /* by goroutine index: the runtime's goid */
	uint32_t ngoroutines;
	const struct stack *stacks; /* by stack id */
	uint32_t nstacks;
	/* The heap's lowest address, or a little below; 0 = unknown: there are no memory ops. */
	uint64_t heap_base;
};

/* The string with this id, with or without TEXT_ID; "" if the tables do not have it. len must not be NULL. */
const char *tables_string(const struct tables *tables, uint32_t id, size_t *len);

/* A self-contained part of the trace: statuses first, then events. */
struct generation {
	uint32_t number; /* from 1 */
	bool last;
	bool shows_end;             /* readers have to see `end`, however soon after the last op */
	uint64_t start, end;        /* ns; every op's time is in [start, end] */
	uint64_t mono_ns, wall_sec; /* both clocks at one moment within [start, end] */
	uint32_t wall_nsec;
	const struct op *ops;
	size_t nops;
	const struct tables *tables;
};

/* The latest ops, from which the next op must keep its distance. */
struct op_spacing {
	uint64_t last;  /* time of the last op */
	uint64_t other; /* time of the last op of a thread other than m */
	uint32_t m;     /* thread of the last op */
};

/* Ops that readers defer until another thread has acted (format rules: sequence numbers and statuses). */
#define OP_WAITS_FOR_ANOTHER                                                                                 \
	(1ull << OP_GO_START | 1ull << OP_GO_UNBLOCK | 1ull << OP_GO_SWITCH | 1ull << OP_GO_SWITCH_DESTROY | \
	 1ull << OP_PROC_START | 1ull << OP_PROC_STEAL | 1ull << OP_SYSCALL_END_BLOCKED)

_Static_assert(OP_KIND_COUNT <= 64, "a bit for each kind");

/*
 * The earliest time of the next op, on thread m. An op that waits for another thread's op in the same time
 * unit can stall readers forever: after sorting its heads by time, Go's reader (1.22 to 1.26,
 * internal/trace/reader.go, Reader.ReadEvent) does not retry the first one.
 */
static inline uint64_t op_earliest(const struct op_spacing *before, enum op_kind kind, uint32_t m)
{
	uint64_t least = before->last + 1;
	uint64_t other = m == before->m ? before->other : before->last;
	uint64_t apart = (other | (OP_UNIT_NS - 1)) + 1;

	return OP_WAITS_FOR_ANOTHER >> kind & 1 && least < apart ? apart : least;
}

/* Records that the next op has this time. */
static inline void op_dated(struct op_spacing *before, uint32_t m, uint64_t time)
{
	if (m != before->m) {
		before->other = before->last;
		before->m = m;
	}
	before->last = time;
}

const char *op_name(enum op_kind kind); /* "GoBlock", for users and dumps */

#endif
