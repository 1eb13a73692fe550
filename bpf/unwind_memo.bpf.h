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
	uint64_t hash;
	uint16_t places[WALK_WORDS]; /* index of each word from base on */
	uint64_t words[WALK_WORDS];
};

#define WALK_MEMOS 128u /* a power of two */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WALK_MEMOS);
	__type(key, uint32_t);
	__type(value, struct walk_memo);
} walk_memos SEC(".maps");

/* The memo for walks that begin like this one. Returns NULL if it is in use by a thread that was preempted.
 */
static __always_inline struct walk_memo *take_memo(const struct scratch *s)
{
	uint32_t key = (s->begun.ip ^ s->begun.sp << 7) * STACK_HASH_FACTOR >> 57 & (WALK_MEMOS - 1);
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

/*
 * Copies the part of the stack that the walk will read, and looks whether it is as it was. The copy serves
 * the walk if it is not.
 */
static __always_inline bool reads_alike(const struct walk_memo *memo, struct scratch *s)
{
	uint64_t size = memo->size;

	barrier_var(size);
	if (size < 8 || size > CHUNK || bpf_probe_read_user(s->chunk, size, (const void *)memo->base))
		return false;
	s->base = memo->base;
	s->whole_frames = size / 8;
	for (uint32_t i = 0; i < WALK_WORDS && i < memo->n; i++) {
		if (s->chunk[memo->places[i] & (CHUNK_WORDS - 1)] != memo->words[i])
			return false;
	}
	return true;
}

/* Sets s->recalled to the hash of the stack that a walk from s->begun would find, or to 0. */
__noinline int recall_walk(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	struct walk_memo *memo;
	uint64_t hash = 0;

	if (!s)
		return 0;
	s->recalled = 0;
	memo = take_memo(s);
	if (!memo)
		return 0;
	if (begins_alike(memo, s) && reads_alike(memo, s))
		hash = memo->hash;
	give_memo_back(memo);
	s->recalled = hash;
	return 0;
}

/* Keeps a walk that began with s->begun and found the stack s->recalled. */
__noinline int keep_walk(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	uint64_t base, at, size = 0;
	struct walk_memo *memo;
	uint32_t n;

	if (!s)
		return 0;
	n = s->n_read;
	memo = n && n <= WALK_WORDS ? take_memo(s) : NULL;
	if (!memo)
		return 0;
	memo->n = 0;
	base = s->read_at[0];
	for (uint32_t i = 0; i < WALK_WORDS && i < n; i++) {
		at = s->read_at[i] - base;
		if (at > CHUNK - 8) {
			n = 0; /* below the first, or too far up */
			break;
		}
		if (at + 8 > size)
			size = at + 8;
		memo->places[i] = at >> 3;
		memo->words[i] = s->read_word[i];
	}
	memo->regs = s->begun;
	memo->rules = s->rules;
	memo->base = base;
	memo->size = size;
	memo->hash = s->recalled;
	memo->needs_bp = s->needs_bp;
	memo->n = n;
	give_memo_back(memo);
	return 0;
}

#endif
