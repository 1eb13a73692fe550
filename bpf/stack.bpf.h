/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stacks by frame pointers, which Go keeps on amd64 in every function with a
 * frame. The part of the stack that the chain runs through is copied in large
 * pieces and walked in the copy: one read instead of two a frame.
 */
#ifndef GOTRACE_STACK_BPF_H
#define GOTRACE_STACK_BPF_H

#include "bpf/go.bpf.h"
#include "bpf/stack_hash.h"

#define CHUNK       2048u /* bytes of stack a read */
#define CHUNK_WORDS (CHUNK / 8)
#define PCS_MASK    255u /* a power of two above STACK_DEPTH, for the verifier */

/*
 * A walk and its buffers. Its state is in a map value and volatile on purpose: what the verifier loads
 * from there it knows nothing about, so the loop looks the same to it in every round and is checked fast.
 *
 * A uprobe's program can be preempted by another thread that hits a probe on
 * the same CPU, so a CPU has several of these, and each is taken and given back.
 */
struct scratch {
	volatile uint32_t taken;
	volatile uint32_t n;    /* pcs so far */
	volatile uint64_t bp;   /* frame to go on from: [bp+8] is the next return address */
	volatile uint64_t base; /* address of chunk in the target, 0 = none yet */
	volatile uint64_t hash;
	uint64_t hi;                                 /* end of the stack */
	uint64_t flags;                              /* enum raw_flags */
	uint64_t head[sizeof(struct raw_stack) / 8]; /* and its pcs: sent as one */
	uint64_t pcs[PCS_MASK + 1];
	uint64_t chunk[CHUNK_WORDS + 2];
};

#define SCRATCHES 4

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* Hashes of the stacks whose frames have been sent. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, uint64_t);
	__type(value, uint8_t);
} sent_stacks SEC(".maps");

static __always_inline struct scratch *take_scratch(void)
{
	for (uint32_t i = 0; i < SCRATCHES; i++) {
		uint32_t key = i;
		struct scratch *s = bpf_map_lookup_elem(&scratches, &key);

		if (s && !__sync_lock_test_and_set(&s->taken, 1))
			return s;
	}
	count_loss(LOSS_SCRATCH_BUSY);
	return NULL;
}

static __always_inline void give_back(struct scratch *s)
{
	__sync_lock_test_and_set(&s->taken, 0);
}

static __always_inline void push_pc(struct scratch *s, uint64_t pc)
{
	uint32_t n = s->n;

	s->pcs[n & PCS_MASK] = pc;
	s->hash = stack_hash_add(s->hash, pc);
	s->n = n + 1;
}

/* Copies the stack from bp on; false if it is not readable. */
static __always_inline bool fill_chunk(struct scratch *s, uint64_t bp)
{
	uint64_t want = s->hi - bp;

	if (want > CHUNK)
		want = CHUNK;
	barrier_var(want);
	if (want < 16 || want > CHUNK)
		return false;
	s->base = bp;
	return !bpf_probe_read_user(s->chunk, want, (const void *)bp);
}

/* runtime.cgocallback's frame on the goroutine's stack: three words, a frame pointer, a return address. */
#define CALLBACK_FRAME 40

/*
 * The chain has left the goroutine's stack at the frame at bp, with return address pc. If that is a
 * callback from C, goes on with cgocall: cgocallback made its frame right below where asmcgocall had left
 * the stack (Go 1.22 … 1.26 runtime/asm_amd64.s), the saved g.sched.pc its return address, cgocall's next.
 */
static __always_inline bool cross_callback(struct scratch *s, uint64_t bp, uint64_t pc)
{
	uint64_t left = bp + 16 + CALLBACK_FRAME; /* where asmcgocall had left the stack pointer */
	uint64_t words[2];

	if (layout.cgocall_frame == LAYOUT_ABSENT || pc < layout.cgocallback || pc >= layout.cgocallback_end)
		return false;
	if (left + 8 + layout.cgocall_frame >= s->hi ||
	    bpf_probe_read_user(words, sizeof(words), (void *)(left - 8)))
		return false; /* a thread of C's own: nothing above */
	push_pc(s, words[0]);
	push_pc(s, words[1]);
	s->bp = left + 8 + layout.cgocall_frame;
	return true;
}

/* One frame; false at the end of the walk. */
static __always_inline bool step(struct scratch *s)
{
	uint64_t bp = s->bp, base = s->base, next, pc;
	uint32_t at;

	if (!bp)
		return false;
	if (bp & 7 || bp >= s->hi)
		goto broken;
	if ((!base || bp - base > CHUNK - 16) && !fill_chunk(s, bp))
		goto broken;
	at = (uint32_t)(bp - s->base) / 8 & (CHUNK_WORDS - 1);
	pc = s->chunk[at + 1];
	push_pc(s, pc);
	next = s->chunk[at];
	s->bp = next;
	if (!next || (next > bp && next < s->hi) || cross_callback(s, bp, pc))
		return true;
broken:
	s->flags |= RAW_STACK_BROKEN;
	return false;
}

/* Each step may push three, the callers of the walk two before: within PCS_MASK + 1 whatever happens. */
#define MAX_STEPS 134u

static __always_inline void walk_frames(struct scratch *s)
{
	for (uint32_t i = 0; i < MAX_STEPS; i++) {
		if (!step(s))
			return;
	}
	s->flags |= RAW_STACK_CUT;
}

/* Sends the frames if this stack has not been sent yet. Returns the hash, 0 if the frames could not be sent.
 */
static __always_inline uint64_t name_stack(struct scratch *s, uint8_t skip)
{
	uint32_t n = s->n;
	uint64_t hash = stack_hash_end(s->hash, n);
	uint64_t size = sizeof(s->head) + n * 8ull;
	struct raw_stack *head = (struct raw_stack *)s->head;
	uint8_t one = 1;

	if (bpf_map_lookup_elem(&sent_stacks, &hash))
		return hash;
	head->n = n;
	head->site = SITE_STACK;
	head->skip = skip;
	head->flags = (uint16_t)s->flags;
	head->hash = hash;
	if (n > STACK_DEPTH) {
		n = STACK_DEPTH;
		size = sizeof(s->head) + STACK_DEPTH * 8;
	}
	barrier_var(size);
	if (size > sizeof(s->head) + STACK_DEPTH * 8)
		return 0;
	if (bpf_ringbuf_output(&ring, s->head, size, BPF_RB_NO_WAKEUP)) {
		count_loss(LOSS_STACK_FULL);
		return 0;
	}
	bpf_map_update_elem(&sent_stacks, &hash, &one, BPF_ANY);
	return hash;
}

static __always_inline struct scratch *begin_walk(uint64_t hi, uint8_t skip)
{
	struct scratch *s = take_scratch();

	if (!s)
		return NULL;
	s->n = 0;
	s->base = 0;
	s->hi = hi;
	s->flags = 0;
	s->hash = stack_hash_begin(skip);
	return s;
}

static __always_inline uint64_t end_walk(struct scratch *s, uint64_t bp, uint8_t skip)
{
	uint64_t hash;

	s->bp = bp;
	walk_frames(s);
	hash = name_stack(s, skip);
	give_back(s);
	return hash;
}

/* The stack that begins with pc and goes on at bp. */
static __always_inline uint64_t stack_from(uint64_t pc, uint64_t bp, uint64_t hi, uint8_t skip)
{
	struct scratch *s = begin_walk(hi, skip);

	if (!s)
		return 0;
	push_pc(s, pc);
	return end_walk(s, bp, skip);
}

/*
 * The stack of a goroutine that is not running Go code of its own now, as
 * traceStack begins it (Go 1.26 runtime/tracestack.go): in a system call from
 * g.syscall*, else from g.sched; one frame is hidden when it was stopped in
 * morestack (g.syncSafePoint, golang.org/issue/68090).
 */
static __always_inline uint64_t stack_of_g(const struct go_g *g, uint8_t skip)
{
	bool in_call = g_word(g, layout.g_syscallsp) != 0 && layout.g_syscallbp != LAYOUT_ABSENT;
	struct scratch *s = begin_walk(g_word(g, layout.g_stack_hi), skip);

	if (!s)
		return 0;
	push_pc(s, g_word(g, in_call ? layout.g_syscallpc : layout.g_sched_pc));
	if (!in_call && g_byte(g, layout.g_sync_safe_point))
		push_pc(s, read_word(g_word(g, layout.g_sched_sp)));
	return end_walk(s, g_word(g, in_call ? layout.g_syscallbp : layout.g_sched_bp), skip);
}

#endif
