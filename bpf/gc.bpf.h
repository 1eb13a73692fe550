/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stop-the-world, cycles of the garbage collector, and the heap. What the
 * runtime's own tracer adds up about sweeping it adds up only while it is on
 * (p.trace), so this does it anew: Go 1.22 … 1.26 runtime/mgcsweep.go,
 * mcentral.go, mheap.go, traceruntime.go (GCSweepStart, GCSweepSpan, GCSweepDone).
 */
#ifndef GOTRACE_GC_BPF_H
#define GOTRACE_GC_BPF_H

#include "bpf/proc.bpf.h"

/*
 * From Go 1.21 on in stopTheWorldWithSema, AX = reason. Before, in gcStart and
 * gcMarkDone, on the goroutine's own stack: 1 is sweep termination, 0 mark
 * termination, and no stack is told.
 */
SEC("?uprobe")
int stw_begin(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_STW_BEGIN, .arg = (uint8_t)GO_ARG(ctx, 0)};
	bool told = go_minor <= 20;

	if (told)
		rec.arg = lies_in(REG_PC(ctx), places.gc_start, places.gc_start_end);
	by_curg(&rec, m_of_g(REG_G(ctx)), 2, !told);
	return 0;
}

SEC("?uprobe")
int stw_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_STW_END};

	by_curg(&rec, m_of_g(REG_G(ctx)), 0, false);
	return 0;
}

/* In gcStart, on the goroutine's own stack; the tracer's stack begins with its caller. */
SEC("?uprobe")
int gc_begin(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_GC_BEGIN, .g = REG_G(ctx)};
	struct go_g g;

	if (!read_g(&g, REG_G(ctx)))
		return 0;
	rec.goid = g_word(&g, layout.g_goid);
	rec.status = g_status(&g);
	rec.p = read_word(g_word(&g, layout.g_m) + layout.m_p);
	rec.stack = stack_of_callers(REG_FP(ctx), g_word(&g, layout.g_stack_hi));
	send(&rec);
	return 0;
}

SEC("?uprobe")
int gc_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_GC_END};

	by_curg(&rec, m_of_g(REG_G(ctx)), 0, false);
	return 0;
}

/* --- mark assists --- */

/*
 * At each place where gcAssistAlloc tells the tracer: that an assist begins, or one of the three where it is
 * over. g.inMarkAssist, which the runtime keeps whether or not it is traced, is set after the first and
 * cleared after the others. Up to Go 1.21 there is none, and ends are told by assist_end.
 */
SEC("?uprobe")
int assist(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_ASSIST_END, .g = REG_G(ctx)};
	struct go_g g;

	if (!read_g(&g, REG_G(ctx)))
		return 0;
	rec.goid = g_word(&g, layout.g_goid);
	rec.p = p_kept_quiet(g_word(&g, layout.g_m));
	if (go_minor <= 21 || !g_byte(&g, layout.g_in_mark_assist)) {
		rec.site = SITE_ASSIST_BEGIN;
		rec.stack = stack_from(places.assist_tells ? places.assist_tells : REG_PC(ctx) + 1,
				       REG_FP(ctx), g_word(&g, layout.g_stack_hi), 0);
	}
	send(&rec);
	return 0;
}

/* Up to Go 1.21, where gcAssistAlloc would tell of the end, if it had told of the beginning. */
SEC("?uprobe")
int assist_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_ASSIST_END, .g = REG_G(ctx)};
	uint64_t words[2];

	if (!read_user(words, sizeof(words), REG_G(ctx) + layout.g_status))
		return 0;
	rec.goid = words[1];
	rec.p = p_kept_quiet(m_of_g(REG_G(ctx)));
	send(&rec);
	return 0;
}

/* --- sweeping --- */

#define GO_PAGE 8192u
/* pagesPerReclaimerChunk, Go 1.22 … 1.26 runtime/mheap.go */
#define RECLAIM_PAGES 512u

/* For whose sake a span is swept. The tracer hears of those that an allocation waits for, not of the others.
 */
enum sweeper { SWEEP_OTHER, SWEEP_CENTRAL, SWEEP_CREDIT, SWEEP_RECLAIM };

/* What a thread has swept for one allocation: a range of the trace. */
struct sweep {
	uint64_t span; /* the mspan in hand, 0 = none */
	uint64_t npages, elemsize;
	uint64_t allocated; /* objects in it before */
	uint64_t swept, reclaimed;
	uint64_t freed; /* pages given back out of the stretch in hand (SWEEP_RECLAIM) */
	uint64_t last;  /* ns: the end of what has been done so far */
	uint64_t who;   /* enum sweeper */
};

/* By thread: it does not give up its P in between (mallocgc holds it). No more are there at a time than Ps.
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

/* At sweep's first instructions: who has called it, or has called sweepone which did. */
static __always_inline enum sweeper sweeper(const struct pt_regs *ctx)
{
	uint64_t caller = return_address(ctx), frame[2];

	if (lies_in(caller, places.cache_span, places.cache_span_end))
		return SWEEP_CENTRAL;
	if (lies_in(caller, places.reclaim_chunk, places.reclaim_chunk_end))
		return SWEEP_RECLAIM;
	if (!read_user(frame, sizeof(frame), REG_FP(ctx)))
		return SWEEP_OTHER;
	return lies_in(frame[1], places.deduct, places.deduct_end) ? SWEEP_CREDIT : SWEEP_OTHER;
}

static __always_inline void end_sweep(uint32_t tid, const struct sweep *sweep)
{
	struct raw_record rec = {
		.site = SITE_SWEEP_END, .goid = sweep->last, .arg = sweep->swept, .arg2 = sweep->reclaimed};

	send(&rec);
	count(HITS_SILENT, -1); /* the hit is another record's, or counted there */
	bpf_map_delete_elem(&sweeps, &tid);
}

/* The thread's open range, which must be of this sweeper: another's is over. */
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

/* Up to Go 1.21 the function that tells the tracer is part of the stack. */
static __always_inline uint64_t stack_of_teller(const struct pt_regs *ctx, uint64_t hi)
{
	struct scratch *s = begin_walk(hi, 0);

	if (!s)
		return 0;
	push_pc(s, places.sweep_teller);
	push_pc(s, places.sweep_tells);
	push_pc(s, return_address(ctx));
	return end_walk(s, REG_FP(ctx), 0);
}

/* The stack goes on at pc and bp if the goroutine itself sweeps, else (on g0) where it left its own. */
static __always_inline void tell_sweep(const struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_SWEEP_BEGIN};
	struct go_m m;
	struct go_g g;

	if (!read_m(&m, m_of_g(REG_G(ctx))))
		return;
	rec.g = m.curg;
	rec.p = m.p;
	if (m.curg && read_g(&g, m.curg)) {
		rec.goid = g_word(&g, layout.g_goid);
		if (m.curg == REG_G(ctx) && places.sweep_teller)
			rec.stack = stack_of_teller(ctx, g_word(&g, layout.g_stack_hi));
		else if (m.curg == REG_G(ctx))
			rec.stack = stack_of_entry(places.sweep_tells ? places.sweep_tells : REG_PC(ctx) + 1,
						   return_address(ctx), REG_FP(ctx),
						   g_word(&g, layout.g_stack_hi));
		else
			rec.stack = stack_of_g(&g, 1);
	}
	send(&rec);
}

/* (*sweepLocked).sweep(preserve): AX = &sweepLocked{*mspan}. */
SEC("?uprobe")
int sweep_begin(struct pt_regs *ctx)
{
	uint32_t tid = this_thread();
	enum sweeper who;
	struct sweep *sweep;
	uint16_t allocated = 0;
	bool first;

	if (comes_again(ctx)) {
		count(HITS_SILENT, 1);
		return 0;
	}
	who = sweeper(ctx);
	sweep = open_sweep(tid, who);
	first = !sweep;
	if (!first || who == SWEEP_OTHER)
		count(HITS_SILENT, 1);
	if (who == SWEEP_OTHER)
		return 0;
	if (first)
		sweep = new_sweep(tid, who);
	if (!sweep)
		return 0;
	sweep->span = read_word(GO_ARG(ctx, 0));
	sweep->npages = read_word(sweep->span + layout.span_npages);
	sweep->elemsize = read_word(sweep->span + layout.span_elemsize);
	read_user(&allocated, sizeof(allocated), sweep->span + layout.span_alloc_count);
	sweep->allocated = allocated;
	sweep->swept += sweep->npages * GO_PAGE;
	if (first)
		tell_sweep(ctx);
	return 0;
}

/* Where sweep would add to what was reclaimed: the span's count of objects is the new one by now. */
SEC("?uprobe")
int sweep_span(struct pt_regs *ctx)
{
	uint32_t tid = this_thread();
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &tid);
	uint16_t left = 0;

	(void)ctx;
	count(HITS_SILENT, 1);
	if (!sweep || !sweep->span)
		return 0;
	read_user(&left, sizeof(left), sweep->span + layout.span_alloc_count);
	if (left < sweep->allocated)
		sweep->reclaimed += (sweep->allocated - left) * sweep->elemsize;
	if (!left)
		sweep->freed += sweep->npages;
	sweep->span = 0;
	sweep->last = bpf_ktime_get_ns();
	return 0;
}

/* Pages that were looked at but not freed count as swept. True for the first chunk of a sweep. */
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
SEC("?uprobe")
int reclaim_chunk(struct pt_regs *ctx)
{
	if (take_chunk())
		tell_sweep(ctx);
	return 0;
}

static __always_inline void end_reclaim(void)
{
	uint32_t tid = this_thread();
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &tid);

	count(HITS_SILENT, 1);
	if (sweep && sweep->who == SWEEP_RECLAIM)
		end_sweep(tid, sweep);
}

/* At the end of reclaim. */
SEC("?uprobe")
int sweep_end(struct pt_regs *ctx)
{
	(void)ctx;
	end_reclaim();
	return 0;
}

/* --- the size of the heap --- */

/* Up to Go 1.17, once it is known where the program is. */
static __always_inline uint64_t told_live(void)
{
	return places.gc_controller ? read_word(places.gc_controller + layout.gc_heap_live) : 0;
}

/*
 * (*gcControllerState).update: AX = the controller, BX = the change of its
 * heapLive. Every allocation that may have swept comes here next (refill and
 * allocLarge in runtime/mcache.go), so that the ends of cacheSpan and of
 * deductSweepCredit, which most allocations pass without sweeping, need no probe.
 * Up to Go 1.17 the checks there, where heapLive has been changed already.
 */
SEC("?uprobe")
int heap_alloc(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_HEAP_ALLOC};
	uint32_t tid = this_thread();
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &tid);
	struct go_m m;

	if (go_minor >= 18 && comes_again(ctx)) {
		count(HITS_SILENT, 1);
		return 0;
	}
	if (sweep)
		end_sweep(tid, sweep);
	if (go_minor >= 18 && !GO_ARG(ctx, 1)) {
		count(HITS_SILENT, 1);
		return 0;
	}
	if (!read_m(&m, m_of_g(REG_G(ctx))))
		return 0;
	rec.g = m.curg;
	rec.p = m.p;
	if (go_minor >= 18)
		rec.arg = read_word(GO_ARG(ctx, 0) + layout.gc_heap_live) + GO_ARG(ctx, 1);
	else
		rec.arg = told_live();
	if (rec.arg)
		send(&rec);
	else
		count(HITS_SILENT, 1);
	return 0;
}

/* (*gcControllerState).resetLive(bytesMarked BX); up to Go 1.17 in gcMark, when it is set. */
SEC("?uprobe")
int heap_reset(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_HEAP_ALLOC, .arg = GO_ARG(ctx, 1)};

	if (go_minor <= 17) {
		rec.arg = told_live();
		if (!rec.arg) {
			count(HITS_SILENT, 1);
			return 0;
		}
	}

	by_curg(&rec, m_of_g(REG_G(ctx)), 0, false);
	return 0;
}

/*
 * In gcControllerCommit, at gcPaceScavenger(memoryLimit, heapGoal BX, lastHeapGoal). 0 as the tracer's
 * HeapGoal has it, when only a limit of memory makes cycles. Up to Go 1.18 in commit, when heapGoal is set.
 */
SEC("?uprobe")
int heap_goal(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_HEAP_GOAL, .arg = GO_ARG(ctx, 1)};
	int32_t percent = 0;

	if (go_minor <= 18 && !places.next_gc) {
		count(HITS_SILENT, 1);
		return 0;
	}
	if (go_minor <= 18)
		rec.arg = read_word(places.next_gc);
	else if (places.gc_controller)
		read_user(&percent, sizeof(percent), places.gc_controller + layout.gc_percent);
	if (percent < 0 || rec.arg == ~0ul)
		rec.arg = 0;
	by_curg(&rec, m_of_g(REG_G(ctx)), 0, false);
	return 0;
}

#endif
