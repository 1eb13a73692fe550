/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A target traced as threads on CPUs (LOG_TARGET_THREADS): what is kept of each thread, and of names. A
 * thread's life is represented by a goroutine, the thread itself by an M, a CPU by a P. Records come from the
 * kernel; their order in the log is trusted, as for Go.
 */
#ifndef GOTRACE_MODEL_THREADS_STATE_H
#define GOTRACE_MODEL_THREADS_STATE_H

#include "model/state.h"
#include "model/threads/syscalls.h"

/* A waking of a thread that was still on its CPU. It takes effect once the thread has left the CPU asleep. */
struct early_waking {
	uint8_t waker; /* enum waker, 0 = none */
	uint32_t tid;  /* the waker */
	int32_t cpu;   /* the waker's */
	uint32_t stack;
};

struct thread_life {
	struct g *g;                   /* its life; g->ptr is the tid */
	uint64_t start_ns;             /* as in struct log_thread, 0 = not known */
	uint64_t call;                 /* the system call it is in: 1 + number, 0 = none or not known */
	uint64_t file;                 /* file of the call (WAIT_*) */
	uint64_t last_call, last_file; /* the same of the last call, which may have ended */
	uint32_t call_stack;
	uint32_t reason; /* string id: what it waits for, while it waits */
	uint32_t comm;   /* string ids */
	uint32_t start;  /* name of its start routine, 0 = not known yet */
	bool exiting;
	uint32_t losses; /* model_view.losses when its exit was seen */
	/* It returned to its CPU in the middle of a call: 1 + index of the op that may begin the rest. */
	size_t resume;
	struct early_waking waking;
	/* 1 + index of the op that was written for an early waking, in early_generation. */
	size_t early_unblock;
	uint32_t early_generation;
	/* 1 + index of the generation's first op about it, if that op is to bear its name. */
	size_t birth;
	uint32_t birth_generation;
};

/* What is known of a stack independently of its thread; by stack id. */
struct native_stack {
	uint32_t start; /* name of the function it begins with, 0 = the walk did not reach it */
	uint8_t hint;   /* enum log_symbol_hint, the innermost */
};

struct symbol_hint {
	uint32_t function; /* string id of the outermost function at the address, 0 = not known */
	uint8_t hint;
};

struct leaf_name { /* of a call and its file */
	uint64_t call, file;
	uint32_t name;
};

enum { LEAF_SETS = 256, LEAF_WAYS = 4 };

struct threads_state {
	uint32_t *used_tids;  /* bits: tids that have been the id of a goroutine */
	uint64_t reused_tids; /* number of ids made up because the tid had been one already */
	bool sees_calls;      /* system calls are recorded */
	bool calls_left_out;  /* from here on they are not; records from before may still come */
	struct map64 comms;   /* tid -> string id, also for threads without a life here */

	struct map64 symbols; /* address -> index in hints */
	struct symbol_hint *hints;
	uint32_t nhints;
	size_t hints_capacity;
	struct native_stack *natives; /* by stack id */
	uint32_t nnatives;
	struct map64 files; /* WAIT_* -> string id */
	struct leaf_name leaves[LEAF_SETS][LEAF_WAYS];
	struct syscalls calls;
	struct map64 roots; /* start << 32 | comm -> string id */
	struct map64 named; /* (stack, leaf, root) -> stack id */
};

#endif
