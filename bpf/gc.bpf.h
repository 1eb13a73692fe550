/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stop-the-world, garbage collection cycles, and the heap. The runtime's own tracer accounts for sweeping
 * only while it is on (p.trace), so these programs do the accounting themselves: Go 1.22 … 1.26
 * runtime/mgcsweep.go, mcentral.go, mheap.go, traceruntime.go (GCSweepStart, GCSweepSpan, GCSweepDone).
 */
#ifndef GOTRACE_GC_BPF_H
#define GOTRACE_GC_BPF_H

#include "bpf/proc.bpf.h"

/* Numbered as in traceGCSTWStart (Go 1.10 to 1.20 runtime/trace.go). Up to 1.9 no stop is traced. */
enum { STW_MARK_TERMINATION, STW_SWEEP_TERMINATION, STW_UNKNOWN };

/*
 * Up to Go 1.9 the probe is in the function that stops the world, which the goroutine calls through
 * systemstack. The caller of systemstack is at the top of the goroutine's own stack.
 */
static __always_inline uint64_t stw_caller(const struct pt_regs *ctx, uint64_t m_address)
{
	struct go_m m;

	if (go_minor >= 10)
		return REG_PC(ctx);
	if (!m_address || !read_m(&m, m_address) || !m.curg)
		return 0;
	return read_word(read_word(m.curg + layout.g_sched_sp));
}

static __always_inline uint64_t stw_reason(const struct pt_regs *ctx, uint64_t m_address)
{
	uint64_t pc = stw_caller(ctx, m_address);

	if (lies_in(pc, places.gc_start, places.gc_start_end))
		return STW_SWEEP_TERMINATION;
	return !has_abi0() || lies_in(pc, places.gc_mark_done, places.gc_mark_done_end) ? STW_MARK_TERMINATION
											: STW_UNKNOWN;
}

/*
 * From Go 1.21 on, in stopTheWorldWithSema(reason). Before 1.21 the reason is derived from the function that
 * requests the stop, and the event has no stack.
 */
HIT(stw_begin)
{
	struct raw_record rec = {.site = SITE_STW_BEGIN};
	uint64_t m = this_m(ctx);

	rec.arg = go_minor >= 21 ? (uint8_t)GO_ARG(ctx, 0) : stw_reason(ctx, m);
	by_curg(&rec, m, go_minor >= 21 ? 2 : NO_STACK);
}

HIT(stw_end)
{
	struct raw_record rec = {.site = SITE_STW_END};

	by_curg(&rec, this_m(ctx), NO_STACK);
}

/* In gcStart, on the goroutine's own stack. The stack that the tracer records begins with gcStart's caller.
 * Go 1.4: on g0, in gc_m. */
HIT(gc_begin)
{
	struct raw_record rec = {.site = SITE_GC_BEGIN};
	struct go_g g;

	if (go_minor == 4) {
		by_curg(&rec, this_m(ctx), 2);
		return;
	}
	if (!read_self(ctx, &rec, &g))
		return;
	rec.p = read_word(g_word(&g, layout.g_m) + layout.m_p);
	rec.stack =
		has_abi0() ? scan_here(ctx, &g, 1) : walk_callers(REG_FP(ctx), g_word(&g, layout.g_stack_hi));
	send(&rec);
}

HIT(gc_end)
{
	struct raw_record rec = {.site = SITE_GC_END};

	by_curg(&rec, this_m(ctx), NO_STACK);
}

/* --- mark assists --- */

static __always_inline uint64_t assist_stack(const struct pt_regs *ctx, const struct go_g *g)
{
	uint64_t hi = g_word(g, layout.g_stack_hi);

	if (has_abi0())
		return scan_trace_call(ctx, hi, places.assist_trace_callee, places.assist_trace_call);
	return walk_from(places.assist_trace_call ? places.assist_trace_call : REG_PC(ctx) + 1, REG_FP(ctx),
			 hi, 0);
}

/*
 * At each call of the tracer in gcAssistAlloc: one begins an assist, the three others end it. The runtime
 * sets g.inMarkAssist after the first and clears it after the others, whether or not a trace is on. Up to Go
 * 1.21 that field does not exist, and assist_end reports the ends.
 */
HIT(assist)
{
	struct raw_record rec = {.site = SITE_ASSIST_END};
	struct go_g g;

	if (!read_self(ctx, &rec, &g))
		return;
	if (go_minor <= 21 || !g_byte(&g, layout.g_in_mark_assist)) {
		rec.site = SITE_ASSIST_BEGIN;
		rec.stack = assist_stack(ctx, &g);
	}
	send(&rec);
}

/* Up to Go 1.21, where gcAssistAlloc would trace the end had it traced the beginning. */
HIT(assist_end)
{
	struct raw_record rec = {.site = SITE_ASSIST_END};
	struct go_g g;

	if (read_self(ctx, &rec, &g))
		send(&rec);
}

/* --- sweeping --- */

#define GO_PAGE 8192u
/* pagesPerReclaimerChunk, Go 1.22 … 1.26 runtime/mheap.go */
#define RECLAIM_PAGES 512u

/* Why a span is swept. The tracer records only sweeping that an allocation waits for, not SWEEP_OTHER. */
enum sweeper { SWEEP_OTHER, SWEEP_CENTRAL, SWEEP_CREDIT, SWEEP_RECLAIM };

/* A thread's sweeping for one allocation, which is one range in the trace. */
struct sweep {
	uint64_t span; /* the mspan being swept, 0 = none */
	uint64_t npages, elemsize;
	uint64_t allocated; /* objects in it before sweeping */
	uint64_t swept, reclaimed;
	uint64_t freed; /* pages freed in the current chunk (SWEEP_RECLAIM) */
	uint64_t last;  /* ns: end of the latest work */
	uint64_t who;   /* enum sweeper */
};

/*
 * Keyed by thread id. The thread keeps its P from the first span to the last (mallocgc holds it), so there
 * are no more entries than Ps.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, uint32_t);
	__type(value, struct sweep);
} sweeps SEC(".maps");

static __always_inline uint32_t this_thread(void)
{
	return current_tid();
}

static __always_inline void end_sweep(uint32_t tid, const struct sweep *sweep)
{
	struct raw_record rec = {
		.site = SITE_SWEEP_END, .goid = sweep->last, .arg = sweep->swept, .arg2 = sweep->reclaimed};

	send(&rec);
	count(HITS_SILENT, -1); /* an extra record: the hit also makes its own, or counts itself as silent */
	bpf_map_delete_elem(&sweeps, &tid);
}

/* Returns the thread's open range if it belongs to this sweeper. Ends the range of another sweeper. */
static __always_inline struct sweep *open_sweep(uint32_t tid, enum sweeper who)
{
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &tid);

	if (!sweep || sweep->who == who)
		return sweep;
	end_sweep(tid, sweep);
	return NULL;
}

static __always_inline struct sweep *new_sweep(uint32_t tid, enum sweeper who)
{
	struct sweep sweep = {.who = who, .last = bpf_ktime_get_ns()};

	bpf_map_update_elem(&sweeps, &tid, &sweep, BPF_ANY);
	return bpf_map_lookup_elem(&sweeps, &tid);
}

/* Up to Go 1.21 the stack includes the function that calls the tracer. */
static __always_inline uint64_t walk_trace_call(const struct pt_regs *ctx, uint64_t hi)
{
	struct scratch *s = begin_walk(hi, 0);

	if (!s)
		return 0;
	push_pc(s, places.sweep_trace_callee);
	push_pc(s, places.sweep_trace_call);
	push_pc(s, return_address(ctx));
	return end_walk(s, REG_FP(ctx), 0);
}

/* The stack of a goroutine that does the sweeping itself. */
static __always_inline uint64_t sweep_stack(const struct pt_regs *ctx, const struct go_g *g)
{
	uint64_t hi = g_word(g, layout.g_stack_hi);

	if (has_abi0())
		return scan_trace_call(ctx, hi, places.sweep_trace_callee, places.sweep_trace_call);
	if (places.sweep_trace_callee)
		return walk_trace_call(ctx, hi);
	return walk_entry(places.sweep_trace_call ? places.sweep_trace_call : REG_PC(ctx) + 1,
			  return_address(ctx), REG_FP(ctx), hi);
}

/* Scheduler code (g0) may sweep on behalf of a goroutine. The stack is then the goroutine's, from where it
 * switched to g0. */
static __always_inline void send_sweep(const struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_SWEEP_BEGIN};
	uint64_t m_address = this_m(ctx);
	struct go_m m;
	struct go_g g;

	if (!m_address || !read_m(&m, m_address))
		return;
	rec.g = m.curg ? m.curg : root_of_bubble(m_address);
	rec.p = m.p;
	if (m.curg && read_g(&g, m.curg)) {
		rec.goid = g_word(&g, layout.g_goid);
		rec.stack = m.curg == this_g(ctx) ? sweep_stack(ctx, &g) : stack_of_g(&g, 1);
	}
	send(&rec);
}

/*
 * The caller of sweep. Frame pointers, which are reliable here, lead to the functions above it; on g0 there
 * may be none.
 */
struct sweep_call {
	uint64_t bp, pc; /* the caller's frame, and the return address into the caller */
	uint64_t span;   /* the span; from Go 1.17 on, the address of a pointer to it */
};

/* From Go 1.17 on, at the entry of (*sweepLocked).sweep(preserve): the receiver is &sweepLocked{*mspan}. */
static __always_inline bool sweep_by_registers(const struct pt_regs *ctx, struct sweep_call *call)
{
	*call = (struct sweep_call){.bp = REG_FP(ctx), .pc = return_address(ctx), .span = GO_ARG(ctx, 0)};
	return true;
}

/* Up to Go 1.16, after the prologue of (*mspan).sweep: the frame is set up, and the receiver is above it. */
static __always_inline bool sweep_by_frame(const struct pt_regs *ctx, struct sweep_call *call)
{
	return read_user(call, sizeof(*call), REG_FP(ctx));
}

static __always_inline bool is_of_credit(uint64_t pc)
{
	return lies_in(pc, places.deduct, places.deduct_end) ||
	       lies_in(pc, places.deduct_copy, places.deduct_copy_end) || in_plugin(pc, PLUGIN_DEDUCT);
}

/*
 * Determines on whose behalf sweep was called: that of cacheSpan or reclaimChunk, which call it directly, or
 * of reclaim or deductSweepCredit, which call it through sweepone. Up to Go 1.11 gosweepone called sweepone
 * through systemstack, which makes no frame. pc: the return address of sweep, bp: its caller's frame. A
 * separate function, because a program's stack is small.
 */
__noinline int sweeper(uint64_t pc, uint64_t bp)
{
	uint64_t frame[2] = {bp}; /* address of the next frame, return address */

	if (lies_in(pc, places.cache_span, places.cache_span_end) || in_plugin(pc, PLUGIN_CACHE_SPAN))
		return SWEEP_CENTRAL;
	if (lies_in(pc, places.reclaim_chunk, places.reclaim_chunk_end) ||
	    in_plugin(pc, PLUGIN_RECLAIM_CHUNK))
		return SWEEP_RECLAIM;
	/* sweepone may be inlined in these (PGO). */
	if (is_of_credit(pc))
		return SWEEP_CREDIT;
	if (lies_in(pc, places.reclaim, places.reclaim_end))
		return SWEEP_RECLAIM;
	for (uint32_t i = 0; i < (go_minor <= 11 ? 3u : 1u); i++) {
		if (bpf_probe_read_user(frame, sizeof(frame), (const void *)frame[0]))
			return SWEEP_OTHER;
		/* deductSweepCredit may be inlined in cacheSpan (PGO). */
		if (is_of_credit(frame[1]) || lies_in(frame[1], places.cache_span, places.cache_span_end) ||
		    in_plugin(frame[1], PLUGIN_CACHE_SPAN))
			return SWEEP_CREDIT;
		if (i == 0 && lies_in(frame[1], places.reclaim, places.reclaim_end))
			return SWEEP_RECLAIM;
	}
	return SWEEP_OTHER;
}

static __always_inline void open_span(struct sweep *sweep, uint64_t span)
{
	uint16_t allocated = 0;

	sweep->span = span;
	sweep->npages = read_word(span + layout.span_npages);
	sweep->elemsize = read_word(span + layout.span_elemsize);
	read_user(&allocated, sizeof(allocated), span + layout.span_alloc_count);
	sweep->allocated = allocated;
	sweep->swept += sweep->npages * GO_PAGE;
}

/* A span is about to be swept. Up to Go 1.8 each span is a range of its own in the trace. */
HIT(sweep_begin)
{
	uint32_t tid = this_thread();
	struct sweep_call call;
	struct sweep *sweep;
	enum sweeper who;
	bool first;

	if (go_minor <= 8) {
		send_sweep(ctx);
		return;
	}
	if (!has_abi0() && will_restart_prologue(ctx))
		return;
	if (!(has_abi0() ? sweep_by_frame(ctx, &call) : sweep_by_registers(ctx, &call)))
		return;
	who = (enum sweeper)sweeper(call.pc, call.bp);
	sweep = open_sweep(tid, who);
	first = !sweep;
	if (!first || who == SWEEP_OTHER)
		count(HITS_SILENT, 1);
	if (who == SWEEP_OTHER)
		return;
	if (first)
		sweep = new_sweep(tid, who);
	if (!sweep)
		return;
	open_span(sweep, has_abi0() ? call.span : read_word(call.span));
	if (first)
		send_sweep(ctx);
}

/* Where sweep would add to the reclaimed bytes: the span's object count has been updated by now. */
HIT(sweep_span)
{
	uint32_t tid = this_thread();
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &tid);
	uint16_t left = 0;

	(void)ctx;
	count(HITS_SILENT, 1);
	if (!sweep || !sweep->span)
		return;
	read_user(&left, sizeof(left), sweep->span + layout.span_alloc_count);
	if (left < sweep->allocated)
		sweep->reclaimed += (sweep->allocated - left) * sweep->elemsize;
	if (!left)
		sweep->freed += sweep->npages;
	sweep->span = 0;
	sweep->last = bpf_ktime_get_ns();
}

/* Pages that were inspected but not freed count as swept. Returns true for the first chunk of a sweep. */
static __always_inline bool take_chunk(void)
{
	uint32_t tid = this_thread();
	struct sweep *sweep = open_sweep(tid, SWEEP_RECLAIM);
	bool first = !sweep;

	if (first)
		sweep = new_sweep(tid, SWEEP_RECLAIM);
	else
		count(HITS_SILENT, 1);
	if (!sweep)
		return false;
	if (sweep->freed < RECLAIM_PAGES)
		sweep->swept += (RECLAIM_PAGES - sweep->freed) * GO_PAGE;
	sweep->freed = 0;
	sweep->last = bpf_ktime_get_ns();
	return first;
}

/* At the end of reclaimChunk. */
HIT(reclaim_chunk)
{
	if (take_chunk())
		send_sweep(ctx);
}

static __always_inline void end_reclaim(void)
{
	uint32_t tid = this_thread();
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &tid);

	count(HITS_SILENT, 1);
	if (sweep && sweep->who == SWEEP_RECLAIM)
		end_sweep(tid, sweep);
}

/* At the end of reclaim. Up to Go 1.8, at the end of sweeping one span, whose sizes are not traced. */
HIT(sweep_end)
{
	struct raw_record rec = {.site = SITE_SWEEP_END};

	(void)ctx;
	if (go_minor >= 9) {
		end_reclaim();
		return;
	}
	rec.goid = bpf_ktime_get_ns();
	send(&rec);
}

/* --- heap size --- */

/* Up to Go 1.17. Returns 0 until the load address of the program is known. */
static __always_inline uint64_t known_live(void)
{
	return places.gc_controller ? read_word(places.gc_controller + layout.gc_heap_live) : 0;
}

/*
 * (*gcControllerState).update: AX = the controller, BX = the change of its heapLive. Every allocation that
 * may have swept calls this next (refill and allocLarge in runtime/mcache.go), so the ends of cacheSpan and
 * deductSweepCredit need no probe; most allocations pass through those without sweeping. Up to Go 1.17, at
 * the checks in refill and allocLarge, where heapLive has already been changed.
 */
HIT(heap_alloc)
{
	struct raw_record rec = {.site = SITE_HEAP_ALLOC};
	uint32_t tid = this_thread();
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &tid);
	uint64_t m_address;
	struct go_m m;

	if (go_minor >= 18 && will_restart_prologue(ctx))
		return;
	if (sweep)
		end_sweep(tid, sweep);
	if (go_minor >= 18 && !GO_ARG(ctx, 1)) {
		count(HITS_SILENT, 1);
		return;
	}
	m_address = this_m(ctx);
	if (!read_m(&m, m_address))
		return;
	rec.g = m.curg ? m.curg : root_of_bubble(m_address);
	rec.p = m.p;
	if (go_minor >= 18)
		rec.arg = read_word(GO_ARG(ctx, 0) + layout.gc_heap_live) + GO_ARG(ctx, 1);
	else
		rec.arg = known_live();
	if (rec.arg)
		send(&rec);
	else
		count(HITS_SILENT, 1);
}

/* (*gcControllerState).resetLive(bytesMarked BX). Up to Go 1.17, in gcMark, once heapLive is set. */
HIT(heap_reset)
{
	struct raw_record rec = {.site = SITE_HEAP_ALLOC, .arg = GO_ARG(ctx, 1)};

	if (go_minor <= 17) {
		rec.arg = known_live();
		if (!rec.arg) {
			count(HITS_SILENT, 1);
			return;
		}
	}

	by_curg(&rec, this_m(ctx), NO_STACK);
}

/*
 * In gcControllerCommit, at gcPaceScavenger(memoryLimit, heapGoal BX, lastHeapGoal). The goal is 0, as in the
 * tracer's HeapGoal, if only a memory limit triggers cycles. Up to Go 1.18, in commit, once heapGoal is set.
 */
HIT(heap_goal)
{
	struct raw_record rec = {.site = SITE_HEAP_GOAL, .arg = GO_ARG(ctx, 1)};
	int32_t percent = 0;

	if (go_minor <= 18 && !places.next_gc) {
		count(HITS_SILENT, 1);
		return;
	}
	if (go_minor <= 18)
		rec.arg = read_word(places.next_gc);
	else if (places.gc_controller)
		read_user(&percent, sizeof(percent), places.gc_controller + layout.gc_percent);
	if (percent < 0 || rec.arg == ~0ul)
		rec.arg = 0;
	by_curg(&rec, this_m(ctx), NO_STACK);
}

#endif
