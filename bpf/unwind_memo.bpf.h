/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Walks of native stacks that were made before. A walk depends on the registers that it begins with, on the
 * rules of the code, and on the words that it reads from the stack. If all of these are the same, so is the
 * stack, and comparing the words takes a fraction of the time of a walk. A saved bp counts only if it is a
 * frame pointer: elsewhere it is a value of the program.
 */
#ifndef GOTRACE_UNWIND_MEMO_BPF_H
#define GOTRACE_UNWIND_MEMO_BPF_H

#include "bpf/scratch.bpf.h"

struct walk_memo {
	volatile uint32_t taken; /* as in struct scratch */
	uint32_t n;              /* words; 0: no walk */
	uint32_t needs_bp;
	struct unwind_regs regs;
	uint64_t rules;
	uint64_t base, size; /* the part of the stack that has all the words */
	uint64_t words;      /* hash of the words */
	uint64_t hash;
	uint16_t places[WALK_WORDS]; /* index of each word from base on */
};

/* A walk may be kept in two places, so that walks which take turns do not drive each other out. */
#define WALK_MEMO_BITS 9
#define WALK_MEMOS     (1u << WALK_MEMO_BITS)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WALK_MEMOS);
	__type(key, uint32_t);
	__type(value, struct walk_memo);
} walk_memos SEC(".maps");

/* choice: 0 or 1. */
static __always_inline uint32_t memo_key(const struct scratch *s, uint32_t choice)
{
	uint64_t hash = (s->begun.ip ^ s->begun.sp << 7) * STACK_HASH_FACTOR;

	return hash >> (64 - WALK_MEMO_BITS * (choice + 1)) & (WALK_MEMOS - 1);
}

/* Returns NULL if it is in use by a thread that was preempted. */
static __always_inline struct walk_memo *take_memo(uint32_t key)
{
	struct walk_memo *memo = bpf_map_lookup_elem(&walk_memos, &key);

#ifdef BEFORE_512
	if (!memo || memo->taken)
		return NULL;
	memo->taken = 1;
	return memo;
#else
	return memo && !__sync_lock_test_and_set(&memo->taken, 1) ? memo : NULL;
#endif
}

static __always_inline void give_memo_back(struct walk_memo *memo)
{
	barrier();
	memo->taken = 0;
}

static __always_inline void note_word(struct scratch *s, uint64_t address, uint64_t word)
{
	uint32_t n = s->n_read;

	s->read_at[n & (WALK_WORDS - 1)] = address;
	s->read_word[n & (WALK_WORDS - 1)] = word;
	s->n_read = n + 1;
}

/* Where the walk has its bp from. */
enum bp_from {
	BP_BEGUN, /* the thread's register */
	BP_READ,  /* from s->bp_at; not needed so far */
	BP_NOTED, /* the same, and needed */
};

/* Before a step that depends on bp. */
static __always_inline void note_use_of_bp(struct scratch *s)
{
	if (s->bp_from == BP_BEGUN)
		s->needs_bp = true;
	else if (s->bp_from == BP_READ)
		note_word(s, s->bp_at, s->bp_word);
	if (s->bp_from == BP_READ)
		s->bp_from = BP_NOTED;
}

/* After a step whose last read but one was that of bp. */
static __always_inline void set_bp_aside(struct scratch *s)
{
	uint32_t n = s->n_read, at = (n - 2) & (WALK_WORDS - 1), last = (n - 1) & (WALK_WORDS - 1);

	if (n < 2 || n > WALK_WORDS)
		return;
	s->bp_at = s->read_at[at];
	s->bp_word = s->read_word[at];
	s->read_at[at] = s->read_at[last];
	s->read_word[at] = s->read_word[last];
	s->n_read = n - 1;
	s->bp_from = BP_READ;
}

static __always_inline void begin_notes(struct scratch *s)
{
	s->n_read = 0;
	s->bp_from = BP_BEGUN;
	s->needs_bp = false;
}

/* The walk depends on more than is noted. */
static __always_inline void drop_notes(struct scratch *s)
{
	s->n_read = WALK_WORDS + 1;
}

static __always_inline bool begins_alike(const struct walk_memo *memo, const struct scratch *s)
{
	return memo->n && memo->regs.ip == s->begun.ip && memo->regs.sp == s->begun.sp &&
	       (!memo->needs_bp || memo->regs.bp == s->begun.bp) &&
	       (!UNWIND_IS_ARM64 || memo->regs.link == s->begun.link) && memo->rules == s->rules;
}

static __always_inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * STACK_HASH_FACTOR;
}

/*
 * Copies the part of the stack that the walk will read, and looks whether it is as it was. The copy serves
 * the walk if it is not.
 */
static __always_inline bool reads_alike(const struct walk_memo *memo, struct scratch *s)
{
	uint64_t size = memo->size, words = 0;

	barrier_var(size);
	if (size < 8 || size > WALK_SPAN || bpf_probe_read_user(s->chunk, size, (const void *)memo->base))
		return false;
	s->base = memo->base;
	s->whole_frames = size < CHUNK ? size / 8 : CHUNK_WORDS;
	for (uint32_t i = 0; i < WALK_WORDS && i < memo->n; i++)
		words = hash_word(words, s->chunk[memo->places[i] & (WALK_SPAN / 8 - 1)]);
	return words == memo->words;
}

/* Looks at one of the two places. Returns true if it has a walk that begins like this one. */
static __always_inline bool look_into_memo(struct scratch *s, uint32_t key, bool *free)
{
	struct walk_memo *memo = take_memo(key);
	bool found;

	if (!memo)
		return false;
	found = begins_alike(memo, s);
	if (found || (!memo->n && !*free))
		s->memo = key;
	*free |= !memo->n;
	if (found && reads_alike(memo, s))
		s->recalled = memo->hash;
	give_memo_back(memo);
	return found;
}

/*
 * Sets s->recalled to the hash of the stack that a walk from s->begun would find, or to 0, and s->memo to
 * where the walk is kept: where one that begins like it is, else in a free place, else in either of the two.
 */
__noinline int recall_walk(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	bool free = false;

	if (!s)
		return 0;
	s->recalled = 0;
	s->memo = memo_key(s, bpf_get_prandom_u32() & 1);
	if (!look_into_memo(s, memo_key(s, 0), &free))
		look_into_memo(s, memo_key(s, 1), &free);
	return 0;
}

/* The lowest address that the walk has read: bp is noted when a frame needs it, above where it is saved. */
static __always_inline uint64_t lowest_read(const struct scratch *s, uint32_t n)
{
	uint64_t lowest = s->read_at[0];

	for (uint32_t i = 1; i < WALK_WORDS && i < n; i++) {
		if (s->read_at[i] < lowest)
			lowest = s->read_at[i];
	}
	return lowest;
}

/* Keeps a walk that began with s->begun and found the stack s->recalled. */
__noinline int keep_walk(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	uint64_t base, at, size = 0, words = 0;
	struct walk_memo *memo;
	uint32_t n;

	if (!s)
		return 0;
	n = s->n_read;
	memo = n && n <= WALK_WORDS ? take_memo(s->memo) : NULL;
	if (!memo)
		return 0;
	memo->n = 0;
	base = lowest_read(s, n);
	for (uint32_t i = 0; i < WALK_WORDS && i < n; i++) {
		at = s->read_at[i] - base;
		if (at > WALK_SPAN - 8) {
			n = 0; /* too far up */
			break;
		}
		if (at + 8 > size)
			size = at + 8;
		memo->places[i] = at >> 3;
		words = hash_word(words, s->read_word[i]);
	}
	memo->regs = s->begun;
	memo->rules = s->rules;
	memo->base = base;
	memo->size = size;
	memo->words = words;
	memo->hash = s->recalled;
	memo->needs_bp = s->needs_bp;
	memo->n = n;
	give_memo_back(memo);
	return 0;
}

#endif
