/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the programs that trace threads: which processes are traced, the state of a thread between two of
 * its records, its user registers.
 */
#ifndef GOTRACE_THREAD_BPF_H
#define GOTRACE_THREAD_BPF_H

#include "bpf/pidns.bpf.h"
#include "bpf/unwind.bpf.h"

/* Bits of task_struct.flags (include/linux/sched.h; PF_USER_WORKER from Linux 6.4 on). */
#define PF_EXITING     0x4u
#define PF_IO_WORKER   0x10u
#define PF_USER_WORKER 0x4000u
#define PF_KTHREAD     0x200000u

/* Set by capture before loading. */
const volatile bool several;         /* several processes are traced: those in `traced` */
const volatile uint32_t spawned;     /* a process that will exec soon: traced from then on */
const volatile bool follow_children; /* forked processes are traced, too */

/* Set by capture while the programs run: no more processes can be added now. */
volatile bool follow_paused;

/* The same: of the processes in `traced`, only forks of processes and execs are recorded. */
volatile bool tracing_paused;

#define NO_PROCESS 0xffffffffu

/* Set by capture while the programs run: the traced process if there is only one. */
volatile uint32_t traced_tgid = NO_PROCESS;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024); /* maximum number of processes at a time: README */
	__type(key, uint32_t);     /* tgid */
	__type(value, uint32_t);   /* its id in /proc */
} traced SEC(".maps");

/*
 * State of a thread in a system call, used when it switches during the call. Threads whose ids are equal
 * modulo the size share an entry and may write it at the same time, so its tid and proof say whose it is.
 * What another thread has overwritten is found out again.
 */
struct call_state {
	volatile uint64_t tid;
	volatile uint64_t call;  /* 1 + number; 0: in none, or in one that was not recorded */
	volatile uint64_t wait;  /* WAIT_* */
	volatile uint64_t stack; /* hash */
	volatile uint64_t proof;
};

#define CALL_STATES 32768u

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CALL_STATES);
	__type(key, uint32_t); /* tid modulo the size */
	__type(value, struct call_state);
} call_states SEC(".maps");

/* With one target, the only cost for threads of other processes: a load and a compare. */
static __always_inline bool is_followed(uint32_t tgid)
{
	if (!several)
		return tgid == traced_tgid;
	return bpf_map_lookup_elem(&traced, &tgid);
}

static __always_inline bool is_traced(uint32_t tgid)
{
	return !(several && tracing_paused) && is_followed(tgid);
}

volatile uint64_t call_epoch; /* changed by capture to forget all states */

static __always_inline struct call_state *call_state_of(uint32_t tid)
{
	uint32_t key = tid % CALL_STATES;

	return bpf_map_lookup_elem(&call_states, &key);
}

static __always_inline uint64_t call_state_proof(const struct call_state *state)
{
	uint64_t hash = (state->tid ^ call_epoch << 32) * STACK_HASH_FACTOR;

	return ((hash ^ state->call) * STACK_HASH_FACTOR ^ state->wait) + state->stack;
}

/* The state of a thread in the given call, or NULL if it is not known. */
static __always_inline struct call_state *known_call(uint32_t tid, uint64_t call)
{
	struct call_state *state = call_state_of(tid);

	return state && state->tid == tid && state->call == call && state->proof == call_state_proof(state)
		       ? state
		       : NULL;
}

static __always_inline void forget_call(uint32_t tid)
{
	struct call_state *state = call_state_of(tid);

	if (state && state->tid == tid)
		state->tid = 0;
}

/* A thread's user-mode registers. call = 1 + number of the system call it is in, 0 = none. */
struct user_regs {
	uint64_t call;
	uint64_t ip; /* as in native_stack_from() */
	uint64_t sp, bp;
	uint64_t args[3]; /* of the call */
	LINK_FIELD
};

/* Kernel workers that belong to a process (io_uring, vhost) have never been in user mode. */
static __always_inline bool has_user_side(const struct task_struct *task)
{
	return !(MEMBER(task, flags) & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
}

/* With probed tasks: the offset of a thread's registers from the lower end of its kernel stack, measured on
 * gotrace's own thread (bpf/threads.bpf.c, own_call). 0: not measured. */
volatile uint32_t regs_place;

#define REGS_PLACE_MAX (1u << 17) /* kernel stacks have 16 KiB on x86-64, at most 64 KiB on arm64 */

static __always_inline void take_regs(struct user_regs *to, const struct pt_regs *regs)
{
	bool in_call = CALL_OF(regs) >= 0;

	to->call = in_call ? (uint64_t)CALL_OF(regs) + 1 : 0;
	to->ip = REG_PC(regs) + !in_call;
	to->sp = REG_SP(regs);
	to->bp = REG_FP(regs);
	KEEP_LINK(to, regs);
	to->args[0] = CALL_ARG_0(regs);
	to->args[1] = CALL_ARG_1(regs);
	to->args[2] = CALL_ARG_2(regs);
}

#if defined(__TARGET_ARCH_arm64)

/* Reads the registers from kernel memory. A copy of all of them would not fit on the stack of a program that
 * walks stacks. */
static __always_inline bool probe_regs(struct user_regs *to, const struct pt_regs *from)
{
	struct pt_regs_tail tail;

	if (bpf_probe_read_kernel(&tail, sizeof(tail), &from->regs[29]) ||
	    bpf_probe_read_kernel(&to->args[1], 2 * sizeof(to->args[1]), &from->regs[1]))
		return false;
	to->call = tail.syscallno >= 0 ? (uint64_t)tail.syscallno + 1 : 0;
	to->ip = tail.pc + (tail.syscallno < 0);
	to->sp = tail.sp;
	to->bp = tail.fp;
	to->link = tail.link;
	to->args[0] = tail.orig_x0;
	return true;
}

#else

static __always_inline bool probe_regs(struct user_regs *to, const struct pt_regs *from)
{
	struct pt_regs copy;

	if (bpf_probe_read_kernel(&copy, sizeof(copy), from))
		return false;
	take_regs(to, &copy);
	return true;
}

#endif

/* Takes the registers that a system call tracepoint passes. */
static __always_inline void take_call_regs(struct user_regs *to, const struct pt_regs *regs)
{
	if (!probed_tasks) {
		take_regs(to, regs);
		return;
	}
	*to = (struct user_regs){0};
	probe_regs(to, regs);
}

static __always_inline bool user_regs(struct user_regs *to, struct task_struct *task)
{
	uint32_t place;

	*to = (struct user_regs){0};
	if (!has_user_side(task))
		return false;
	if (!probed_tasks) {
		take_regs(to, (const struct pt_regs *)bpf_task_pt_regs(task));
		return true;
	}
	place = regs_place;
	return place && probe_regs(to, (const void *)((const char *)MEMBER(task, stack) + place));
}

/* kernel: as in native_stack_from(). */
static __always_inline uint64_t whole_stack_of(void *kernel, const struct user_regs *regs, uint32_t tgid)
{
	const struct unwind_regs from = {
		.ip = regs->ip,
		.sp = regs->sp,
		.bp = regs->bp,
		.link = LINK_OF(regs),
	};

	return native_stack_from(kernel, &from, tgid);
}

static __always_inline uint64_t stack_of(const struct user_regs *regs, uint32_t tgid)
{
	return whole_stack_of(NULL, regs, tgid);
}

/*
 * The caller sets the record's tid, which need not be the current thread's, and its time, because the event
 * precedes any walk of the stack.
 */
static __always_inline void send_timed(struct raw_record *rec)
{
	struct raw_record shown;

	rec->p = bpf_get_smp_processor_id();
	if (own_level) { /* the caller may send its record again */
		shown = *rec;
		translate_ids(&shown);
		rec = &shown;
	}
	put(rec, sizeof(*rec));
}

static __always_inline void send_thread(struct raw_record *rec)
{
	rec->time = bpf_ktime_get_ns();
	send_timed(rec);
}

#define COMM_SIZE TASK_COMM

static __always_inline void send_comm(uint32_t tgid, uint32_t tid, const char comm[COMM_SIZE])
{
	uint64_t words[(sizeof(struct raw_text) + COMM_SIZE) / 8] = {0};
	struct raw_text *text = (struct raw_text *)words;

	text->record.site = SITE_COMM;
	text->record.tid = pidns_id(tid);
	text->record.goid = pidns_id(tgid);
	text->record.p = bpf_get_smp_processor_id();
	__builtin_memcpy(text->text, comm, COMM_SIZE);
	for (uint32_t i = 0; i < COMM_SIZE && comm[i]; i++)
		text->len++;
	text->record.time = bpf_ktime_get_ns();
	put(words, sizeof(words));
}

#endif
