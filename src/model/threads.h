/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A target seen as threads on CPUs (LOG_TARGET_THREADS): private to the model.
 * A thread's life is a goroutine, the thread itself an M, a CPU a P. Records
 * are the kernel's; their order in the log is trusted, as for Go.
 */
#ifndef GOTRACE_THREADS_H
#define GOTRACE_THREADS_H

#include "calls.h"
#include "state.h"

/* Someone woke the thread while it was still on its CPU: it counts once it has left it asleep. */
struct early_waking {
	uint8_t waker; /* enum waker, 0 = none */
	uint32_t tid;  /* the waker */
	int32_t cpu;   /* the waker's */
	uint32_t stack;
};

/* A call of a function that the user asked for, not over yet. */
struct function_call {
	uint64_t sp;   /* of the caller: deeper calls have lower ones */
	uint64_t task; /* 0 = a region only */
	uint32_t name; /* string id */
};

struct function_calls {
	struct function_call *open; /* innermost last */
	unsigned n, capacity;
};

struct thread {
	struct g *g;       /* its life; g->ptr is the tid */
	uint64_t start_ns; /* as in struct log_thread, 0 = not known */
	uint64_t call;     /* the system call it is in: 1 + number, 0 = none or not known */
	uint64_t file;     /* that the call is about (WAIT_*) */
	uint32_t call_stack;
	uint32_t reason; /* string id: what it waits for, if it does */
	uint32_t comm;   /* string ids */
	uint32_t start;  /* name of its start routine, 0 = not known yet */
	bool exiting;
	uint32_t losses; /* then: annotations.losses */
	/* It came back to its CPU in the middle of a call: 1 + index of the op that may begin the rest. */
	size_t resume;
	struct early_waking waking;
	/* Such a waking was written: 1 + index of the op in that generation. */
	size_t early_unblock;
	uint32_t early_generation;
	/* The op by which the open generation knows it first, if it is to bear its name: 1 + index. */
	size_t birth;
	uint32_t birth_generation;
	struct function_calls calls;
};

/* What is known of a stack without looking at its thread; by stack id. */
struct native_stack {
	uint32_t start; /* name of the function it begins with, 0 = its walk did not come so far */
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

struct threads {
	uint32_t *used_tids; /* bits: have been the id of a goroutine */
	uint64_t reborn;     /* ids made up because the tid had been one already */
	bool sees_calls;     /* system calls are recorded */
	struct map64 comms;  /* tid -> string id, for those that have no life here */

	struct map64 symbols; /* address -> index */
	struct symbol_hint *hints;
	uint32_t nhints, hints_capacity;
	struct native_stack *natives; /* by stack id */
	uint32_t nnatives;
	struct map64 files; /* WAIT_* -> string id */
	struct leaf_name leaves[LEAF_SETS][LEAF_WAYS];
	struct map64 roots; /* start << 32 | comm -> string id */
	struct map64 named; /* (stack, leaf, root) -> stack id */
};

/* --- threads.c --- */
struct thread *thread_find(const struct model *md, uint64_t tid); /* NULL if it does not live */
/* A new life; status G_DEAD until the caller says otherwise. NULL when out of memory. */
struct thread *thread_new(struct model *md, uint32_t tid);
/* Finds it, or has the stand-in give birth to it: nobody saw where it came from. */
struct thread *thread_get(struct model *md, uint64_t tid, bool waiting);
/* The op just written is the first that the generation knows of the thread. */
void thread_told(struct model *md, struct thread *t);
bool is_tid(uint64_t tid);

/* --- threads_names.c --- */
void threads_symbol(struct model *md, const struct log_symbol *symbol);
void threads_stack(struct model *md, const struct raw_stack *raw);
void threads_file(struct model *md, const struct log_file *file);
void threads_comm(struct model *md, const struct raw_text *text);
/* What the thread's stack has at its leaf in this call, 0 = nothing. */
uint32_t thread_leaf(struct model *md, uint64_t call, uint64_t file);
/* The stack with this hash, with names around it; learns the thread's start routine from it. */
uint32_t thread_stack(struct model *md, struct thread *t, uint64_t hash, uint32_t leaf);
uint8_t thread_stack_hint(const struct model *md, uint64_t hash);
/* What it waits for, in words: string id. */
uint32_t thread_reason(struct model *md, const struct wait *wait);
/* The thread's name alone, as a stack. */
uint32_t thread_entry(struct model *md, const struct thread *t);
uint32_t thread_name(struct model *md, const struct thread *t); /* string id */
uint32_t outside_stack(struct model *md, uint32_t tid, uint64_t pid);
uint32_t interrupt_stack(struct model *md, uint64_t kind);

/* --- threads_step.c: on and off CPUs, lawfully; a missing step is made up --- */
struct p *cpu_get(struct model *md, uint64_t cpu); /* NULL if there can be none of that number */
void cpu_clear(struct model *md, struct p *p);     /* none of our threads runs there */
void thread_off_cpu(struct model *md, struct thread *t);
void thread_make_runnable(struct model *md, struct thread *t);
/* The thread runs there, in its own code or in the kernel. */
bool thread_on_cpu(struct model *md, struct thread *t, struct p *p);
void thread_enter_cpu(struct model *md, struct thread *t, struct p *p);
/* It is in no system call that the trace knows as begun. */
void thread_end_call(struct model *md, struct thread *t);
/* The rest of a call is told, or was too short to be. */
void thread_settle_resume(struct model *md, struct thread *t, bool tell);
void thread_resume_call(struct model *md, struct thread *t);
void thread_die(struct model *md, struct thread *t); /* t is gone then */

/* --- threads_observe.c --- */
/* It was said to be woken before it had left its CPU, and has not been seen since. */
void thread_doubt_waking(struct model *md, struct thread *t);
/* A snapshot shows it; it may have been woken since. */
void thread_fell_asleep_unseen(struct model *md, struct thread *t);

/* --- threads_functions.c --- */
void function_begin(struct model *md, struct thread *t, const struct raw_record *rec);
void function_end(struct model *md, struct thread *t, const struct raw_record *rec);
void thread_end_functions(struct model *md, struct thread *t); /* it runs, and will not return into them */

#endif
