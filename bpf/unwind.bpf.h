/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stack walks of native code, most of which keeps no frame pointers. They use tables that user space makes
 * from .eh_frame (bpf/unwind.h). Code is called from few places, so rules that were looked up are cached.
 */
#ifndef GOTRACE_UNWIND_BPF_H
#define GOTRACE_UNWIND_BPF_H

#include "bpf/scratch.bpf.h"
#include "bpf/pidns.bpf.h"
#include "bpf/unwind_memo.bpf.h"

/* Filled by capture (src/capture/native_tables.h), which also sets their sizes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct unwind_row);
} unwind_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct unwind_page);
} unwind_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct unwind_mapping);
} unwind_mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint64_t); /* struct unwind_space: read atomically */
} unwind_spaces SEC(".maps");

/* Cache of rules by address, with UNWIND_RULE_CACHE entries per space: the address's upper bits, and the
 * rule. */
#define UNWIND_RULE_CACHE_BITS 16u
#define UNWIND_RULE_CACHE      (1u << UNWIND_RULE_CACHE_BITS)
#define UNWIND_RULE_CACHE_MARK (1ull << 63) /* marks an entry in use */

static __always_inline uint64_t rule_cache_mark(uint64_t pc)
{
	return UNWIND_RULE_CACHE_MARK | pc >> UNWIND_CODE_SHIFT >> UNWIND_RULE_CACHE_BITS << 32;
}

static __always_inline uint32_t rule_cache_key(uint32_t space, uint64_t pc)
{
	return (space << UNWIND_RULE_CACHE_BITS) +
	       (uint32_t)(pc >> UNWIND_CODE_SHIFT & (UNWIND_RULE_CACHE - 1));
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, UNWIND_RULE_CACHE);
	__type(key, uint32_t);
	__type(value, uint64_t);
} unwind_rule_cache SEC(".maps");

/* The space of a process (tgid), if there are several. Before Linux 6.1 perf event programs can use only
 * preallocated hashes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, uint32_t);
	__type(value, uint32_t);
} unwind_processes SEC(".maps");

const volatile bool unwind_several; /* several processes; else all use space 0 */

static __always_inline const struct unwind_mapping *unwind_mapping_at(void *where, uint32_t i)
{
	(void)where;
	return bpf_map_lookup_elem(&unwind_mappings, &i);
}

static __always_inline const struct unwind_page *unwind_page_at(void *where, uint32_t i)
{
	(void)where;
	return bpf_map_lookup_elem(&unwind_pages, &i);
}

static __always_inline const struct unwind_row *unwind_row_at(void *where, uint32_t i)
{
	(void)where;
	return bpf_map_lookup_elem(&unwind_rows, &i);
}

/* A shorter copy is not worthwhile, so it includes part of the next page. */
#define SHORT_COPY 1024u

/* Copies the stack from s->base to the end of its page. A thread's stack ends at a page boundary. */
__noinline int copy_stack(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	uint64_t base, size;

	if (!s)
		return false;
	base = s->base;
	size = CHUNK - (base & (CHUNK - 1));
	if (size < SHORT_COPY && !bpf_probe_read_user(s->chunk, 2 * SHORT_COPY, (const void *)base)) {
		s->whole_frames = 2 * SHORT_COPY / 8;
		return true;
	}
	barrier_var(size);
	if (size < 8 || size > CHUNK)
		return false;
	s->whole_frames = size / 8;
	if (!bpf_probe_read_user(s->chunk, size, (const void *)base))
		return true;
	s->whole_frames = 0;
	return false;
}

static __always_inline bool unwind_read(void *where, uint64_t address, uint64_t *word)
{
	struct scratch *s = where;
	uint64_t at = address - s->base;

	at = at >> 3 | at << 61; /* in words; huge if not aligned, or below the copy */
	if (at >= s->whole_frames) {
		if (address & 7)
			return false;
		s->base = address;
		if (!copy_stack(SCRATCH_ARG(s)))
			return false;
		at = 0;
	}
	*word = s->chunk[at & (CHUNK_WORDS - 1)];
	note_word(s, address, *word);
	return true;
}

#include "bpf/unwind_step.h"

/*
 * Looks up the rule of s->regs.ip in space s->space, and caches it. User space switches to another list of
 * mappings before it clears the cache of the previous one; an entry cached too late for that is discarded
 * here. The exchange is the barrier that the second read of the list needs.
 */
__noinline int search_rule(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	union {
		uint64_t word;
		struct unwind_space space;
	} list;
	volatile uint64_t *shown, *cached;
	uint64_t pc, entry;
	uint32_t key;

	if (!s)
		return 0;
	key = s->space;
	shown = bpf_map_lookup_elem(&unwind_spaces, &key);
	if (!shown)
		return 0;
	list.word = *shown;
	pc = s->regs.ip - 1;
	s->rule = unwind_rule_at(s, list.space, pc);
	key = rule_cache_key(s->space, pc);
	cached = bpf_map_lookup_elem(&unwind_rule_cache, &key);
	if (!cached || s->rule == UNWIND_NOWHERE || pc >> (47 + UNWIND_CODE_SHIFT))
		return 0;
	entry = rule_cache_mark(pc) | s->rule;
#ifdef BEFORE_512
	*cached = entry;
	fence(s);
#else
	__sync_lock_test_and_set(cached, entry);
#endif
	if (*shown != list.word)
		*cached = 0;
	return 0;
}

static __always_inline uint32_t rule_of(struct scratch *s)
{
	uint64_t pc = s->regs.ip - 1, entry;
	uint32_t key = rule_cache_key(s->space, pc);
	volatile uint64_t *cached = bpf_map_lookup_elem(&unwind_rule_cache, &key);

	entry = cached ? *cached : 0;
	if ((entry ^ rule_cache_mark(pc)) >> 32 == 0)
		return (uint32_t)entry;
	s->rule = UNWIND_NOWHERE;
	search_rule(SCRATCH_ARG(s));
	return s->rule;
}

/* One frame of the walk: stores its address, and finds its caller. Returns false at the end. */
__noinline int native_frame(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	enum unwind_result result;
	struct unwind_regs regs;
	uint32_t rule;

	if (!s)
		return false;
	rule = rule_of(s);
	if (rule == UNWIND_NOWHERE && s->n > s->kernel_frames) {
		s->flags |= RAW_STACK_BROKEN;
		return false;
	}
	if (s->n >= STACK_DEPTH || (most_frames && s->n >= most_frames + s->kernel_frames)) {
		s->flags |= RAW_STACK_CUT;
		return false;
	}
	regs.ip = s->regs.ip;
	regs.sp = s->regs.sp;
	regs.bp = s->regs.bp;
	regs.link = s->regs.link;
	push_pc(s, regs.ip);
	if (UNWIND_KIND(rule) == UNWIND_SIGNAL || (!UNWIND_IS_ARM64 && UNWIND_KIND(rule) == UNWIND_SP_LINK))
		drop_notes(s);
	if (unwind_uses_bp(rule))
		note_use_of_bp(s);
	result = unwind_step(s, rule, &regs);
	if (result == UNWIND_MORE && unwind_restores_bp(rule))
		set_bp_aside(s);
	else if (result == UNWIND_MORE && UNWIND_KIND(rule) == UNWIND_CHAIN)
		s->bp_from = BP_NOTED; /* it was among the words read */
	s->regs.ip = regs.ip;
	s->regs.sp = regs.sp;
	s->regs.bp = regs.bp;
	s->regs.link = regs.link;
	if (result == UNWIND_BROKEN)
		s->flags |= RAW_STACK_BROKEN;
	return result == UNWIND_MORE;
}

__noinline int native_frames(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);

	if (!s)
		return 0;
	for (uint32_t i = 0; i < STACK_DEPTH + 1; i++) {
		if (!native_frame(SCRATCH_ARG(s)))
			break;
	}
	return 0;
}

const volatile bool kernel_stacks; /* set by capture: --kernel-stacks */

/*
 * The kernel's frames are first read into the buffer for copies of the stack. The first few belong to the
 * tracepoint and the switch; user space leaves them out.
 */
#define KERNEL_DEPTH 64u

__noinline int push_kernel_frames(SCRATCH_PARAMETER)
{
	SCRATCH_FROM_ARG(s);
	uint32_t n;

	if (!s)
		return 0;
	n = s->kernel_frames;
	for (uint32_t i = 0; i < KERNEL_DEPTH && i < n; i++)
		push_pc(s, s->chunk[i]);
	return 0;
}

static __always_inline void take_kernel_frames(void *ctx, struct scratch *s)
{
	long size = bpf_get_stack(ctx, s->chunk, KERNEL_DEPTH * sizeof(s->chunk[0]), 0);

	s->kernel_frames = size > 0 ? (uint32_t)size / sizeof(s->chunk[0]) : 0;
	push_kernel_frames(SCRATCH_ARG(s));
}

static __always_inline bool space_of(uint32_t tgid, uint32_t *space)
{
	uint32_t *found;

	*space = 0;
	if (!unwind_several)
		return true;
	tgid = pidns_id(tgid); /* capture, which fills the map, uses ids of its own namespace */
	found = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (found)
		*space = *found;
	return found;
}

static __always_inline uint64_t kernel_and_native_stack(void *kernel, struct scratch *s, bool user)
{
	take_kernel_frames(kernel, s);
	if (user)
		native_frames(SCRATCH_ARG(s));
	return send_stack_once(s, 0);
}

static __always_inline uint64_t rules_now(uint32_t space)
{
	volatile uint64_t *list = bpf_map_lookup_elem(&unwind_spaces, &space);

	return (list ? *list : 0) ^ most_frames * STACK_HASH_FACTOR;
}

static __always_inline uint64_t native_user_stack(struct scratch *s)
{
	uint64_t hash;

	begin_notes(s);
	s->rules = rules_now(s->space);
	recall_walk(SCRATCH_ARG(s));
	if (s->recalled && is_sent(s->recalled))
		return s->recalled;
	native_frames(SCRATCH_ARG(s));
	hash = send_stack_once(s, 0);
	s->recalled = hash;
	if (hash && !(s->flags & RAW_STACK_BROKEN))
		keep_walk(SCRATCH_ARG(s));
	return hash;
}

/*
 * The stack of a thread, from its user registers. ip is a return address (in a system call, that of the next
 * instruction), or the interrupted address plus 1; 0: no user mode. kernel: NULL, or the context of a raw
 * tracepoint that runs in the thread itself; with --kernel-stacks, the frames in the kernel then come first.
 * Returns the stack's hash, 0 if there is none.
 */
static __always_inline uint64_t native_stack_from(void *kernel, const struct unwind_regs *regs, uint32_t tgid)
{
	struct scratch *s;
	uint32_t space;
	uint64_t hash;

	if (!space_of(tgid, &space))
		return 0;
	s = begin_walk(0, NATIVE_STACK);
	if (!s)
		return 0;
	s->flags = RAW_STACK_NATIVE;
	s->space = space;
	s->regs.ip = s->begun.ip = regs->ip;
	s->regs.sp = s->begun.sp = regs->sp;
	s->regs.bp = s->begun.bp = regs->bp;
	s->regs.link = s->begun.link = regs->link;
	hash = kernel && kernel_stacks ? kernel_and_native_stack(kernel, s, regs->ip) : native_user_stack(s);
	give_back(s);
	return hash;
}

/* The stack at the probed instruction. */
static __always_inline uint64_t native_stack(const struct pt_regs *ctx, uint32_t tgid)
{
	const struct unwind_regs regs = {
		.ip = REG_PC(ctx) + 1,
		.sp = REG_SP(ctx),
		.bp = REG_FP(ctx),
		.link = REG_LINK(ctx),
	};

	return native_stack_from(NULL, &regs, tgid);
}

#endif
