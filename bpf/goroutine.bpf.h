/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutine state changes. Scheduler code runs on g0. The number of leaf frames to skip in a stack is the
 * value that the runtime's own tracer passes to traceStack for the event (Go 1.22 to 1.26,
 * runtime/traceruntime.go).
 */
#ifndef GOTRACE_GOROUTINE_BPF_H
#define GOTRACE_GOROUTINE_BPF_H

#include "bpf/abi0.bpf.h"
#include "bpf/own_thread.bpf.h"

/* Reads the goroutine that gives up its thread. It is the function's first argument; its registers are in
 * g.sched by now (mcall). */
static __always_inline bool read_leaver(struct raw_record *rec, struct go_g *g, uint64_t address)
{
	if (!read_g(g, address))
		return false;
	rec->g = address;
	rec->goid = g_word(g, layout.g_goid);
	rec->status = g_status(g);
	rec->p = p_after_hidden_change(g_word(g, layout.g_m));
	return true;
}

static __always_inline void leave(struct raw_record *rec, uint64_t address, uint8_t skip)
{
	struct go_g g;

	if (!read_leaver(rec, &g, address))
		return;
	if (has_stack(skip))
		rec->stack = stack_of_stopped(&g, skip, rec->site == SITE_GOYIELD, NULL);
	send(rec);
}

/* Up to Go 1.10 g.waitreason is a string. Its first eight bytes identify every wait reason of 1.4. */
static __always_inline uint64_t begin_of_text(const struct go_g *g, uint32_t offset)
{
	uint64_t text = g_word(g, offset), len = g_word(g, offset + 8), bytes;

	if (!text || !len)
		return 0;
	bytes = read_word(text);
	return len < 8 ? bytes & ((1ull << len * 8) - 1) : bytes;
}

/*
 * What gopark's caller passed for the tracer. m.waitTraceSkip and m.waitTraceBlockReason (one byte) are
 * adjacent. Go 1.4 has neither; there, only gopark's own frame is skipped.
 */
struct park_words {
	uint8_t reason, skip;
};

static __always_inline bool read_park_words(struct park_words *words, uint64_t m)
{
	bool skip_first = layout.m_trace_skip < layout.m_block_reason;
	uint64_t read[2];

	if (!read_user(read, sizeof(read), m + (skip_first ? layout.m_trace_skip : layout.m_block_reason)))
		return false;
	words->reason = (uint8_t)read[skip_first ? 1 : 0];
	words->skip = (uint8_t)read[skip_first ? 0 : 1];
	return true;
}

/*
 * The words of calls of gopark that pass constants, so that m need not be read again: the call's pc << 16 |
 * reason << 8 | skip.
 */
#define KNOWN_PARKS_BITS 6
volatile uint64_t known_parks[1u << KNOWN_PARKS_BITS];

static __always_inline volatile uint64_t *known_park(uint64_t pc)
{
	return &known_parks[pc * STACK_HASH_FACTOR >> (64 - KNOWN_PARKS_BITS)];
}

/* Go 1.17 to 1.27 chan.go, select.go, netpoll.go, time.go */
static __always_inline bool passes_constants(uint64_t pc)
{
	return lies_in(pc, places.chanrecv, places.chanrecv_end) ||
	       lies_in(pc, places.chansend, places.chansend_end) ||
	       lies_in(pc, places.selectgo, places.selectgo_end) ||
	       lies_in(pc, places.netpollblock, places.netpollblock_end) ||
	       lies_in(pc, places.time_sleep, places.time_sleep_end);
}

/* The pc after the call of gopark, or in a copy of gopark; 0 if gopark's frame could not be read. */
static __always_inline uint64_t park_call(const struct scratch *s, uint64_t pc)
{
	if (!lies_in(pc, places.gopark, places.gopark_end))
		return pc;
	return s->whole_frames ? s->chunk[1] : 0;
}

/* As read_park_words(). s: where the walk of the goroutine's stack has begun, or NULL. */
static __always_inline bool find_park_words(struct park_words *words, const struct scratch *s,
					    const struct go_g *g)
{
	uint64_t pc = s ? park_call(s, g_word(g, layout.g_sched_pc)) : 0, known = *known_park(pc);

	if (pc && known >> 16 == pc) {
		words->reason = (uint8_t)(known >> 8);
		words->skip = (uint8_t)known;
		return true;
	}
	if (!read_park_words(words, g_word(g, layout.g_m)))
		return false;
	if (passes_constants(pc))
		*known_park(pc) = pc << 16 | (uint32_t)words->reason << 8 | words->skip;
	return true;
}

/* Sends the record of a goroutine that parked. Go up to 1.16. */
static __always_inline void park_abi0(struct raw_record *rec, const struct go_g *g)
{
	bool has_words = layout.m_block_reason != LAYOUT_ABSENT;
	struct park_words words = {.skip = 1};
	uint64_t awaited = 0;

	if (has_words && !read_park_words(&words, g_word(g, layout.g_m)))
		return;
	rec->arg = words.reason;
	if (!has_words)
		rec->arg2 = begin_of_text(g, layout.g_waitreason);
	else if (!wait_reason_text)
		rec->arg2 = g_byte(g, layout.g_waitreason);
	if (has_stack(words.skip))
		rec->stack = scan_g(g, words.skip, &awaited);
	if (has_words)
		rec->arg2 |= awaited;
	send(rec);
}

HIT(park)
{
	struct raw_record rec = {.site = SITE_PARK};
	struct park_words words;
	uint64_t args[1], awaited = 0;
	struct scratch *s;
	struct go_g g;

	if (!entry_args(ctx, args, 1) || !read_leaver(&rec, &g, args[0]))
		return;
	if (has_abi0()) {
		park_abi0(&rec, &g);
		return;
	}
	s = begin_parked(&g);
	if (!find_park_words(&words, s, &g)) {
		if (s)
			give_back(s);
		return;
	}
	rec.arg = words.reason;
	if (s)
		rec.stack = end_parked(s, &g, words.skip, &awaited);
	rec.arg2 = g_byte(&g, layout.g_waitreason) | awaited;
	send(&rec);
}

/*
 * goschedImpl(gp, preempted). Up to Go 1.21 its callers are probed instead; which of them was hit shows
 * whether this is a preemption. Go 1.4: gosched_m, which newstack also calls for a goroutine that is being
 * preempted.
 */
static __always_inline bool is_preempted(const struct pt_regs *ctx, const uint64_t *args)
{
	if (go_minor >= 22)
		return args[1] & 0xff;
	return go_minor == 4 && lies_in(read_word(REG_SP(ctx)), places.newstack, places.newstack_end);
}

HIT(gosched)
{
	struct raw_record rec = {.site = SITE_GOSCHED};
	uint64_t args[2];

	if (!entry_args(ctx, args, has_abi0() ? 1 : 2))
		return;
	rec.arg = is_preempted(ctx, args);
	leave(&rec, args[0], stop_skip);
}

/* goyield_m(gp); up to 1.21 also gopreempt_m(gp), in 1.17 to 1.21 at its call of goschedImpl(gp). */
HIT(goyield)
{
	struct raw_record rec = {.site = SITE_GOYIELD, .arg = 1};
	uint64_t args[1];

	if (entry_args(ctx, args, 1))
		leave(&rec, args[0], stop_skip);
}

HIT(preemptpark)
{
	struct raw_record rec = {.site = SITE_PREEMPTPARK};
	uint64_t args[1];

	if (entry_args(ctx, args, 1))
		leave(&rec, args[0], 0);
}

/* The M of a thread that runs scheduler code, which is on g0 but for a few calls of injectglist. */
static __always_inline uint64_t m_of_scheduler(const struct pt_regs *ctx)
{
	uint64_t g0 = this_g(ctx);

	return g0 ? m_of_g0(g0) : 0;
}

/*
 * Reads the M's current goroutine and P, for a thread that changes the state of another goroutine. Returns
 * m.curg, whose stack is that of the change; 0 = the runtime's own tracer gives no stack either.
 */
static __always_inline uint64_t read_acting_goroutine(struct raw_record *rec, uint64_t m_address)
{
	struct go_m m;

	if (!read_m(&m, m_address))
		return 0;
	rec->arg = m.curg ? m.curg : root_of_bubble(m_address);
	rec->p = m.p;
	return m.curg;
}

/*
 * The stack of the acting goroutine. The walk must come last in a program: the verifier checks the code after
 * the walk once for each of the walk's many exits.
 */
static __always_inline uint64_t acting_stack(uint64_t curg, uint8_t skip)
{
	struct go_g g;

	return curg && has_stack(skip) && read_g(&g, curg) ? stack_of_g(&g, skip) : 0;
}

/* g.atomicstatus (4 bytes, followed by 4 others) and g.goid are adjacent: one read. */
static __always_inline void read_goid_and_status(struct raw_record *rec)
{
	uint64_t words[2];

	if (!read_user(words, sizeof(words), rec->g + layout.g_status))
		return;
	rec->status = (uint8_t)((uint32_t)words[0] & ~GSCAN);
	rec->goid = words[1];
}

/* Sends the record of a goroutine that the thread's goroutine, or the scheduler, makes runnable. */
static __always_inline void ready_by(const struct pt_regs *ctx, struct raw_record *rec, uint8_t skip)
{
	uint64_t curg = read_acting_goroutine(rec, m_of_scheduler(ctx));
	struct go_g g;

	rec->status = 0;
	if (curg && has_stack(skip) && read_g(&g, curg)) {
		rec->status = g_status(&g);
		rec->stack = stack_of_g(&g, skip);
	}
	send(rec);
}

/* ready(gp, traceskip) */
HIT(ready)
{
	struct raw_record rec = {.site = SITE_READY};
	uint64_t args[2];

	if (!entry_args(ctx, args, 2))
		return;
	rec.g = args[0];
	if (layout.m_block_reason == LAYOUT_ABSENT)
		args[1] = 2; /* 1.4 has no traceskip: skip the frames of systemstack and goready */
	ready_by(ctx, &rec, (uint8_t)args[1]);
}

/*
 * The GC worker mode of g, numbered as gcMarkWorkerMode from 1.16 on. The mode is set before the worker
 * becomes runnable, and its P then runs it at once (findRunnable). Before 1.16, 0 is also a mode, and the
 * goroutine's start function shows whether it is a worker.
 */
static __always_inline uint8_t worker_mode(const struct raw_record *rec)
{
	if (layout.p_gc_mark_worker_mode == LAYOUT_ABSENT)
		return 0;
	if (go_minor <= 15 && (!places.gc_worker || read_word(rec->g + layout.g_startpc) != places.gc_worker))
		return 0;
	return (uint8_t)read_word(rec->p + layout.p_gc_mark_worker_mode) + (go_minor <= 15);
}

/*
 * Sends the record of a goroutine that becomes runnable. A goroutine itself may call injectglist (at the end
 * of a GC cycle); its stack then begins at pc, in the middle of a function.
 */
static __always_inline void unblock_by(const struct pt_regs *ctx, struct raw_record *rec, uint64_t pc)
{
	uint64_t bp = REG_FP(ctx), curg = read_acting_goroutine(rec, m_of_scheduler(ctx));
	struct go_g g;

	if (go_minor >= 22 && curg && read_g(&g, curg)) {
		if (curg != REG_G(ctx)) {
			pc = g_word(&g, layout.g_sched_pc);
			bp = g_word(&g, layout.g_sched_bp);
		}
		rec->stack = walk_from(pc, bp, g_word(&g, layout.g_stack_hi), 0);
	} else if (!rec->arg && rec->p) {
		rec->arg2 = worker_mode(rec);
	}
	send(rec);
}

/* At a call of casgstatus(gp, ...). */
HIT(unblock)
{
	struct raw_record rec = {.site = SITE_UNBLOCK};
	uint64_t args[1];

	if (!call_args(ctx, args, 1))
		return;
	rec.g = args[0];
	read_goid_and_status(&rec);
	unblock_by(ctx, &rec,
		   places.injectglist_trace_call ? places.injectglist_trace_call : REG_PC(ctx) + 1);
}

/* A separate function that takes only numbers (bpf/scratch.bpf.h), because a program's stack is small. */
__noinline int number_of_text(uint64_t begin, uint64_t len)
{
	for (uint8_t i = 1; i < WAIT_TEXTS; i++) {
		if (wait_texts[i].begin == begin && wait_texts[i].len == len)
			return i;
	}
	return 0;
}

/* The wait reason as a number. */
static __always_inline uint8_t wait_reason(const struct go_g *g)
{
	if (!wait_reason_text)
		return g_byte(g, layout.g_waitreason);
	return (uint8_t)number_of_text(begin_of_text(g, layout.g_waitreason),
				       g_word(g, layout.g_waitreason + 8));
}

/* A separate function for the verifier, as number_of_text(). */
__noinline int is_park_copy(uint64_t pc)
{
	for (uint32_t i = 0; i < MAX_PARK_COPIES && places.park_copies[i]; i++) {
		if (places.park_copies[i] == pc)
			return 1;
	}
	return 0;
}

/* Whether a goroutine with this saved pc is in gopark, at its call of mcall(park_m). */
static __always_inline bool is_parked_at(uint64_t pc)
{
	return lies_in(pc, places.gopark, places.gopark_end) || in_plugin(pc, PLUGIN_GOPARK) ||
	       (places.park_copies[0] && is_park_copy(pc));
}

/*
 * The goroutine is not running yet, so its saved registers show where it last left its thread: in gopark, or
 * where it was preempted.
 */
static __always_inline void resume(const struct pt_regs *ctx, uint64_t gp)
{
	struct raw_record rec = {.site = SITE_RESUME, .g = gp};
	uint64_t awaited = 0;
	struct go_g g;
	uint8_t skip;

	if (!read_g(&g, gp))
		return;
	if (is_parked_at(g_word(&g, layout.g_sched_pc)))
		rec.arg = 1;
	else if (g_byte(&g, layout.g_preempt)) /* execute has not cleared it yet */
		rec.arg = 2;
	rec.arg2 = wait_reason(&g);
	rec.goid = g_word(&g, layout.g_goid);
	rec.status = g_status(&g);
	if (p_changes_hidden())
		rec.p = p_after_hidden_change(this_m(ctx));
	skip = rec.arg == 1 ? park_skips[rec.arg2 & 63] : (uint8_t)stop_skip;
	if (has_abi0() || has_stack(skip))
		rec.stack = stack_of_stopped(&g, skip, rec.arg == 2, &awaited);
	if (rec.arg == 1)
		rec.arg2 |= awaited;
	send(&rec);
}

/*
 * The thread's P is known from acquirep, and the goroutine from its creation. From Go 1.24 on the creation
 * record has the goroutine id, so nothing is read here.
 */
HIT(execute)
{
	struct raw_record rec = {.site = SITE_EXECUTE};
	uint64_t args[1];

	if (!entry_args(ctx, args, 1))
		return;
	if (starts_only) {
		resume(ctx, args[0]);
		return;
	}
	rec.g = args[0];
	if (layout.p_goidcache != LAYOUT_ABSENT)
		read_goid_and_status(&rec);
	send(&rec);
}

HIT(destroy)
{
	struct raw_record rec = {.site = SITE_DESTROY};
	uint64_t args[1];

	if (!entry_args(ctx, args, 1))
		return;
	rec.g = args[0];
	read_goid_and_status(&rec);
	if (p_changes_hidden())
		rec.p = p_after_hidden_change(this_m(ctx));
	send(&rec);
}

/*
 * Up to Go 1.23 newproc1 assigns the id after this probe: the next one in the P's cache. Returns 0 if the
 * cache is empty.
 */
static __always_inline uint64_t next_goid(uint64_t p)
{
	uint64_t next = read_word(p + layout.p_goidcache);

	return next == read_word(p + layout.p_goidcacheend) ? 0 : next;
}

/*
 * Reads what identifies the new goroutine: in one go from g.goid on if the rest is near enough (Go 1.5
 * to 1.27). 1.4 keeps the function only as the pc at which the goroutine will start.
 */
static __always_inline void read_newborn(struct raw_record *rec)
{
	uint32_t start = layout.g_startpc != LAYOUT_ABSENT ? layout.g_startpc : layout.g_sched_pc;
	uint32_t to_start = start - layout.g_goid, to_labels = g_labels - layout.g_goid;
	uint64_t labels = 0;
	struct go_g born;

	/* The end of a new g may be in a page that nobody has touched yet. */
	if (to_start < G_HEAD && (!g_labels || to_labels < G_HEAD) &&
	    !bpf_probe_read_user(&born, sizeof(born), (const void *)(rec->g + layout.g_goid))) {
		rec->goid = born.words[0];
		rec->arg2 = g_word(&born, to_start);
		labels = g_labels ? g_word(&born, to_labels) : 0;
	} else {
		rec->goid = read_word(rec->g + layout.g_goid);
		rec->arg2 = read_word(rec->g + start);
		if (g_labels)
			bpf_probe_read_user(&labels, sizeof(labels), (const void *)(rec->g + g_labels));
	}
	/* newproc1 sets the labels before. From 1.18 on, system goroutines get none. */
	if (labels)
		rec->flags |= RAW_HAS_LABELS;
}

/* Sends the record of the new goroutine rec->g, which gets rec->status. */
static __always_inline void create_by(const struct pt_regs *ctx, struct raw_record *rec)
{
	uint64_t curg = read_acting_goroutine(rec, m_of_scheduler(ctx));

	read_newborn(rec);
	if (layout.p_goidcache != LAYOUT_ABSENT)
		rec->goid = next_goid(rec->p);
	rec->stack = acting_stack(curg, 2);
	send(rec);
}

/* At casgstatus(newg, old, new) in newproc1. The statuses have 32 bits and share a word under ABI0. */
HIT(newproc)
{
	struct raw_record rec = {.site = SITE_NEWPROC};
	uint64_t args[3];

	if (!call_args(ctx, args, 3))
		return;
	rec.g = args[0];
	rec.status = (uint8_t)(has_abi0() ? args[1] >> 32 : args[2]);
	create_by(ctx, &rec);
}

HIT(coro)
{
	struct raw_record rec = {.site = SITE_CORO, .g = GO_ARG(ctx, 0)};
	uint8_t exits = 0;

	read_goid_and_status(&rec);
	if (p_changes_hidden())
		rec.p = p_after_hidden_change(this_m(ctx));
	rec.arg = read_word(read_word(GO_ARG(ctx, 0) + layout.g_coroarg) + layout.coro_gp);
	read_user(&exits, sizeof(exits), GO_ARG(ctx, 0) + layout.g_coroexit);
	rec.arg2 = exits;
	send(&rec);
}

#endif
