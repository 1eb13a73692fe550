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
	uint64_t base;
	volatile uint64_t size; /* from base on: the part of the stack that has all the words */
	uint64_t words;         /* hash of the words */
	uint64_t hash;
	uint16_t places[WALK_WORDS]; /* index of each word from base on */
};

/* The places for walks that begin alike, as in a function that several others call: such walks take turns,
 * and would drive each other out of a single place. */
#define WALK_WAYS      4u
#define WALK_MEMO_BITS 9
#define WALK_MEMOS     (1u << WALK_MEMO_BITS)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WALK_MEMOS);
	__type(key, uint32_t);
	__type(value, struct walk_memo);
} walk_memos SEC(".maps");

static __always_inline uint32_t memo_key(const struct scratch *s, uint32_t way)
{
	uint64_t hash = (s->begun.ip ^ s->begun.sp << 7) * STACK_HASH_FACTOR;

	return hash >> (64 - WALK_MEMO_BITS * (way + 1)) & (WALK_MEMOS - 1);
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

/* Copies the part of the stack that the walk will read. A walk that is not recalled reads the copy. */
static __always_inline bool copy_walk_span(const struct walk_memo *memo, struct scratch *s)
{
	uint64_t size = memo->size;

	if (memo->base == s->base && size <= s->copied)
		return true;
	s->whole_frames = s->copied = 0;
	barrier_var(size);
	if (size < 8 || size > WALK_SPAN || bpf_probe_read_user(s->chunk, size, (const void *)memo->base))
		return false;
	s->base = memo->base;
	s->copied = size;
	s->whole_frames = size < CHUNK ? size / 8 : CHUNK_WORDS;
	return true;
}

static __always_inline bool reads_alike(const struct walk_memo *memo, struct scratch *s)
{
	uint64_t words = 0;

	if (!copy_walk_span(memo, s))
		return false;
	for (uint32_t i = 0; i < WALK_WORDS && i < memo->n; i++)
		words = hash_word(words, s->chunk[memo->places[i] & (WALK_SPAN / 8 - 1)]);
	return words == memo->words;
}

/* Looks at the place s->way. Returns true if it has this walk. */
__noinline int look_into_memo(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	struct walk_memo *memo;
	uint32_t key;

	if (!s)
		return false;
	key = memo_key(s, s->way & (WALK_WAYS - 1));
	memo = take_memo(key);
	if (!memo)
		return false;
	if (!memo->n && !s->memo_is_free) {
		s->memo = key;
		s->memo_is_free = true;
	}
	if (begins_alike(memo, s) && reads_alike(memo, s))
		s->recalled = memo->hash;
	give_memo_back(memo);
	return s->recalled != 0;
}

/*
 * Sets s->recalled to the hash of the stack that a walk from s->begun would find, or to 0, and s->memo to
 * where the walk is to be kept: in a free place, else in any.
 */
__noinline int recall_walk(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);

	if (!s)
		return 0;
	s->recalled = s->copied = 0;
	s->memo_is_free = false;
	s->memo = memo_key(s, bpf_get_prandom_u32() & (WALK_WAYS - 1));
	for (uint32_t i = 0; i < WALK_WAYS; i++) {
		s->way = i;
		if (look_into_memo(SCRATCH_ARG(s)))
			break;
	}
	return 0;
}

/* The lowest address that the walk has read: bp is noted when a frame needs it, above where it is saved. */
static __always_inline void find_lowest_read(struct scratch *s)
{
	s->lowest = s->read_at[0];
	for (uint32_t i = 1; i < WALK_WORDS && i < s->n_read; i++) {
		if (s->read_at[i] < s->lowest)
			s->lowest = s->read_at[i];
	}
}

/* Keeps the words that the walk has read. Returns false if they are too far apart. Values that change in
 * these two loops are volatile and in maps: the verifier follows all values of local variables, which took it
 * 280,000 instructions. */
static __always_inline bool keep_words(struct walk_memo *memo, struct scratch *s)
{
	uint64_t base = s->lowest, words = 0, at;

	memo->base = base;
	memo->size = 0;
	for (uint32_t i = 0; i < WALK_WORDS && i < s->n_read; i++) {
		at = s->read_at[i] - base;
		if (at > WALK_SPAN - 8)
			return false;
		if (at + 8 > memo->size)
			memo->size = at + 8;
		memo->places[i] = at >> 3;
		words = hash_word(words, s->read_word[i]);
	}
	memo->words = words;
	return true;
}

/* Keeps a walk that began with s->begun and found the stack s->recalled. */
__noinline int keep_walk(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	struct walk_memo *memo;
	uint32_t n;

	if (!s)
		return 0;
	n = s->n_read;
	memo = n && n <= WALK_WORDS ? take_memo(s->memo) : NULL;
	if (!memo)
		return 0;
	memo->n = 0;
	find_lowest_read(s);
	if (keep_words(memo, s)) {
		memo->regs = s->begun;
		memo->rules = s->rules;
		memo->hash = s->recalled;
		memo->needs_bp = s->needs_bp;
		memo->n = s->n_read;
	}
	give_memo_back(memo);
	return 0;
}

#endif
