/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by all stack walks, of Go and of native code: buffers, and the table of sent stacks, so that a
 * stack's frames are sent once.
 */
#ifndef GOTRACE_SCRATCH_BPF_H
#define GOTRACE_SCRATCH_BPF_H

#include "bpf/base.bpf.h"
#include "bpf/stack_hash.h"
#include "bpf/unwind.h"

#define CHUNK       4096u /* bytes of stack per read */
#define CHUNK_WORDS (CHUNK / 8)
#define PCS_MASK    255u  /* a power of two above STACK_DEPTH and SCAN_DEPTH, for the verifier */
#define WALK_WORDS  64u   /* bpf/unwind_memo.bpf.h: a power of two */
#define WALK_SPAN   8192u /* the same: bytes of stack between the first and the last of them */

/*
 * A walk and its buffers. The state is in a map value and volatile on purpose: the verifier knows nothing
 * about values loaded from there, so every iteration of the loop looks the same to it and is verified
 * quickly.
 *
 * A uprobe program can be preempted by another thread that hits a probe on the same CPU. So a CPU has several
 * of these, and each is acquired and released.
 */
struct scratch {
	volatile uint32_t taken;
	uint32_t fences, index;    /* for kernels before 5.12; index: this entry's number in the map */
	volatile uint32_t n;       /* pcs so far */
	volatile uint32_t chunks;  /* read so far */
	volatile uint64_t bp;      /* next frame: [bp+8] is the next return address */
	volatile uint64_t last_bp; /* the previous frame, and its return address */
	volatile uint64_t last_pc;
	volatile uint64_t hash;
	volatile struct unwind_regs regs; /* bpf/unwind.bpf.h: registers of the next frame */
	volatile uint32_t rule;           /* the same: how its caller is found */
	volatile uint32_t space;          /* the same: list of mappings */
	volatile uint32_t kernel_frames;  /* the same: number of pcs that are the kernel's */
	volatile uint64_t n_scanned;      /* bpf/scan.bpf.h: words of chunk already scanned */
	volatile uint64_t first_word;     /* the same: the chunk's distance from the leaf's sp, in words */
	volatile uint64_t parked_bp;      /* bpf/awaited.bpf.h: frame of gopark; 0 = not asked */
	volatile uint64_t awaited;        /* the same: what the goroutine waits for */
	struct unwind_regs begun;         /* bpf/unwind_memo.bpf.h: registers of the first frame */
	uint64_t rules;                   /* the same: what says whether the rules are the same */
	uint64_t recalled;                /* the same: hash of the stack */
	uint32_t memo;                    /* the same: where the walk is kept */
	uint32_t memo_is_free;            /* the same: nothing was kept there */
	volatile uint32_t way;            /* the same: which place of the walk is looked at */
	uint64_t copied;                  /* the same: bytes copied into chunk */
	volatile uint32_t n_read;         /* the same: words that the walk depends on */
	volatile uint32_t bp_from;        /* the same: enum bp_from */
	volatile uint32_t needs_bp;       /* the same: the walk depends on begun.bp */
	volatile uint64_t bp_at, bp_word; /* the same: of BP_READ */
	volatile uint64_t lowest;         /* the same: the lowest of read_at */
	uint64_t read_at[WALK_WORDS];     /* the same: the words' addresses, and what they were */
	uint64_t read_word[WALK_WORDS];
	uint64_t hi;                 /* end of the stack */
	uint64_t other_lo, other_hi; /* a stack on which the chain may continue; other_hi = 0: none */
	uint64_t base;               /* address of chunk in the target */
	uint64_t whole_frames;       /* words of chunk at which a frame can begin */
	uint64_t flags;              /* enum raw_flags */
	uint64_t head[sizeof(struct raw_stack) / 8]; /* followed by pcs: sent together */
	uint64_t pcs[PCS_MASK + 1];
	uint64_t chunk[WALK_SPAN / 8];
};

#define SCRATCHES 4

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

/*
 * Hashes of the stacks whose frames have been sent, in sets of four. This is an array because its lookup
 * costs nothing. An evicted stack is sent again.
 */
#define SENT_SETS 16384u
#define SENT_WAYS 4u

struct sent_set {
	volatile uint64_t hashes[SENT_WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SENT_SETS);
	__type(key, uint32_t);
	__type(value, struct sent_set);
} sent_stacks SEC(".maps");

#ifdef BEFORE_512
/*
 * Linux 5.12 introduced the atomic exchange (5ffa25502b5a). Before 6.0 (8c7dcb84e3b7) no program is preempted
 * by another thread's: a program that interrupts it finishes first.
 */
static __always_inline bool take(struct scratch *s, uint32_t index)
{
	if (s->taken)
		return false;
	s->taken = 1;
	s->index = index;
	return true;
}

/* A barrier: these kernels have only one atomic instruction. */
static __always_inline void fence(struct scratch *s)
{
	__sync_fetch_and_add(&s->fences, 1);
}

/*
 * The verifier checks global functions separately and lets them take only numbers (btf_prepare_func_args in
 * kernel/bpf/btf.c; memory from 5.12 on, e5069b9c23b3). So they take the index of the scratch.
 */
#define SCRATCH_PARAMETER   uint32_t scratch_index
#define SCRATCH_FROM_ARG(s) struct scratch *s = bpf_map_lookup_elem(&scratches, &scratch_index)
#define SCRATCH_ARG(s)      ((s)->index)
#else
static __always_inline bool take(struct scratch *s, uint32_t index)
{
	(void)index;
	return !__sync_lock_test_and_set(&s->taken, 1);
}

#define SCRATCH_PARAMETER   struct scratch *scratch_arg
#define SCRATCH_FROM_ARG(s) struct scratch *s = scratch_arg
#define SCRATCH_ARG(s)      (s)
#endif

static __always_inline struct scratch *take_scratch(void)
{
	for (uint32_t i = 0; i < SCRATCHES; i++) {
		uint32_t key = i;
		struct scratch *s = bpf_map_lookup_elem(&scratches, &key);

		if (s && take(s, i))
			return s;
	}
	count_loss(LOSS_SCRATCH_BUSY);
	return NULL;
}

static __always_inline void give_back(struct scratch *s)
{
	barrier();
	s->taken = 0; /* a plain store will do: the next user is on the same CPU */
}

static __always_inline void push_pc(struct scratch *s, uint64_t pc)
{
	uint32_t n = s->n;

	s->pcs[n & PCS_MASK] = pc;
	s->hash = stack_hash_add(s->hash, pc);
	s->n = n + 1;
}

static __always_inline bool was_sent(const struct sent_set *set, uint64_t hash)
{
	return set->hashes[0] == hash || set->hashes[1] == hash || set->hashes[2] == hash ||
	       set->hashes[3] == hash;
}

static __always_inline bool is_sent(uint64_t hash)
{
	uint32_t key = hash % SENT_SETS;
	struct sent_set *set = bpf_map_lookup_elem(&sent_stacks, &key);

	return set && was_sent(set, hash);
}

/* Chooses a free slot, or else one by hash bits that did not select the set. */
static __always_inline uint32_t way_for(const struct sent_set *set, uint64_t hash)
{
	for (uint32_t i = 0; i < SENT_WAYS; i++) {
		if (!set->hashes[i])
			return i;
	}
	return hash >> 62;
}

/* Frames must be in the ring before another CPU may refer to them by hash. */
static __always_inline bool send_frames(struct scratch *s, uint64_t hash, uint8_t skip)
{
	/* Use a mask, not a comparison: a value spilled before a comparison keeps no bound (Linux 6.1's
	 * verifier). */
	uint32_t n = s->n & PCS_MASK;
	uint64_t size = sizeof(s->head) + n * 8ull;
	struct raw_stack *head = (struct raw_stack *)s->head;

	head->n = n;
	head->site = SITE_STACK;
	head->skip = skip;
	head->flags = (uint16_t)s->flags;
	head->hash = hash;
	return !put(s->head, size);
}

/* Sends the frames if this stack has not been sent yet. Returns the hash, or 0 if the frames could not be
 * sent. */
static __always_inline uint64_t send_stack_once(struct scratch *s, uint8_t skip)
{
	uint64_t hash = stack_hash_end(s->hash, s->n);
	uint32_t key = hash % SENT_SETS;
	struct sent_set *set = bpf_map_lookup_elem(&sent_stacks, &key);

	if (!set || was_sent(set, hash))
		return hash;
	if (!send_frames(s, hash, skip))
		return 0;
	set->hashes[way_for(set, hash)] = hash;
	return hash;
}

static __always_inline struct scratch *begin_walk(uint64_t hi, uint32_t skip)
{
	struct scratch *s = take_scratch();

	if (!s)
		return NULL;
	s->n = 0;
	s->last_bp = 0;
	s->last_pc = 0;
	s->chunks = 0;
	s->base = 0;
	s->whole_frames = 0;
	s->hi = hi;
	s->other_hi = 0;
	s->flags = 0;
	s->kernel_frames = 0;
	s->parked_bp = 0;
	s->awaited = 0;
	s->hash = stack_hash_begin(skip);
	return s;
}

#endif
