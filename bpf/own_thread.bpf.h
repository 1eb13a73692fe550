/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a thread's last hits have read and its next one needs again. Each read of the target's memory takes
 * 75 to 115 ns, a look-up here 5.
 *
 * A slot may belong to several threads, which may write it at the same time. So a value is stored with a
 * proof that it belongs to this thread, and a torn or foreign one counts as none.
 */
#ifndef GOTRACE_OWN_THREAD_BPF_H
#define GOTRACE_OWN_THREAD_BPF_H

#include "bpf/go.bpf.h"

#define THREAD_SLOTS 4096u

struct thread_slot {
	volatile uint64_t m, m_proof;           /* of the g0 that is part of the proof */
	volatile uint64_t user_m, user_m_proof; /* of the thread's goroutines */
	volatile uint64_t call, call_proof;     /* the g in the thread's system call, or NO_CALL */
	volatile uint64_t ticks, ticks_proof;   /* of a call that a signal interrupted, for its g */
	volatile uint32_t calls;                /* counts, for names */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, THREAD_SLOTS);
	__type(key, uint32_t);
	__type(value, struct thread_slot);
} thread_slots SEC(".maps");

static __always_inline struct thread_slot *thread_slot(void)
{
	uint32_t key = current_tid() % THREAD_SLOTS;

	return bpf_map_lookup_elem(&thread_slots, &key);
}

static __always_inline uint64_t proof_of(uint64_t value, uint64_t of)
{
	return (value ^ (of << 17 | of >> 47)) + (uint64_t)current_tid() * 0x9e3779b97f4a7c15ull;
}

/* --- the M --- */

/*
 * The M of a thread whose g0 runs the probed code. It stays the same while the thread lives: mexit() is the
 * thread's end (Go 1.17 to 1.27 runtime/proc.go).
 */
static __always_inline uint64_t m_of_g0(uint64_t g0)
{
	struct thread_slot *slot = thread_slot();
	uint64_t m;

	if (slot && slot->m && slot->m_proof == proof_of(slot->m, g0))
		return slot->m;
	m = m_of_g(g0);
	if (slot && m && read_word(m + layout.m_g0) == g0) {
		slot->m = m;
		slot->m_proof = proof_of(m, g0);
	}
	return m;
}

/*
 * Whether this is known to be the M of the goroutines on this thread. A thread that C created has its M only
 * until dropm.
 */
static __always_inline bool is_own_m(uint64_t m)
{
	struct thread_slot *slot = thread_slot();

	return slot && m && slot->user_m == m && slot->user_m_proof == proof_of(m, 0);
}

static __always_inline void remember_own_m(uint64_t m)
{
	struct thread_slot *slot = thread_slot();

	if (!slot)
		return;
	slot->user_m = m;
	slot->user_m_proof = proof_of(m, 0);
}

/* --- system calls --- */

#define NO_CALL 1u /* a call that Go does not treat as one */

static __always_inline void remember_call(uint64_t g)
{
	struct thread_slot *slot = thread_slot();

	if (!slot)
		return;
	slot->call = g;
	slot->call_proof = proof_of(g, 0);
}

/* The g of the system call that ends, NO_CALL, or 0 if its entry was not seen. Forgets it. */
static __always_inline uint64_t take_call(void)
{
	struct thread_slot *slot = thread_slot();
	uint64_t g;

	if (!slot)
		return 0;
	g = slot->call;
	if (!g || slot->call_proof != proof_of(g, 0))
		return 0;
	slot->call = 0;
	return g;
}

/*
 * A number for a call, which differs from that of the thread's last one and from any m.syscalltick.
 */
#define CALL_NUMBER 0x80000000u

static __always_inline uint32_t new_call_number(void)
{
	struct thread_slot *slot = thread_slot();

	return slot ? CALL_NUMBER | ++slot->calls : CALL_NUMBER;
}

/* The kernel may start the call of this g again, unless its m.syscalltick is another one by then. */
static __always_inline void remember_interrupted(uint64_t g, uint32_t tick)
{
	struct thread_slot *slot = thread_slot();

	if (!slot)
		return;
	slot->ticks = (uint64_t)tick << 32 | slot->calls;
	slot->ticks_proof = proof_of(slot->ticks, g);
}

/* The number of the interrupted call of this g, if it is still the same one; else 0. */
static __always_inline uint32_t interrupted_call(uint64_t g, uint64_t m)
{
	struct thread_slot *slot = thread_slot();
	uint32_t tick = 0;

	if (!slot || !slot->ticks_proof || slot->ticks_proof != proof_of(slot->ticks, g))
		return 0;
	if (read_user(&tick, sizeof(tick), m + layout.m_syscalltick) && tick == slot->ticks >> 32)
		return CALL_NUMBER | (uint32_t)slot->ticks;
	slot->ticks_proof = 0;
	return 0;
}

#endif
