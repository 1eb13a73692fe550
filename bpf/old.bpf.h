/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The programs for Go 1.4 to 1.16: arguments are on the stack, and no register
 * holds g. A hit stands at the jump of the stack check, before a function makes
 * its frame: there the return address is at the stack pointer and the
 * arguments above it; or at a call: there the arguments of the callee are at
 * the stack pointer. How many leaf frames a stack leaves out is what each
 * traceGo... passes to traceEvent (Go 1.5 … 1.16 runtime/trace.go, proc.go);
 * where that is 0, the runtime's own trace has no stack.
 */
#ifndef GOTRACE_OLD_BPF_H
#define GOTRACE_OLD_BPF_H

#include "bpf/gc.bpf.h"
#include "bpf/goroutine.bpf.h"
#include "bpf/proc.bpf.h"
#include "bpf/scan.bpf.h"
#include "bpf/syscall.bpf.h"
#include "bpf/user.bpf.h"

struct words {
	uint64_t at[5];
};

/* The first n words of arguments, n a constant. */
static __always_inline bool entry_args(const struct pt_regs *ctx, struct words *args, uint32_t n)
{
	return read_user(args->at, n * 8, REG_SP(ctx) + 8);
}

static __always_inline bool call_args(const struct pt_regs *ctx, struct words *args, uint32_t n)
{
	return read_user(args->at, n * 8, REG_SP(ctx));
}

static __always_inline uint64_t current_m(void)
{
	uint64_t g = thread_g();

	return g ? m_of_g(g) : 0;
}

/* On a goroutine's own stack the jump may lead to morestack, which calls the function anew: another hit. */
static __always_inline bool is_first_of_two(const struct pt_regs *ctx)
{
	if (!IS_BELOW_OR_EQUAL(ctx))
		return false;
	count(HITS_SILENT, 1);
	return true;
}

/* --- goroutines --- */

/* The goroutine's own stack is in g.sched by now (mcall, morestack). */
static __always_inline bool begin_leave(const struct pt_regs *ctx, struct raw_record *rec, struct go_g *g)
{
	struct words args;

	if (!entry_args(ctx, &args, 1) || !read_g(g, args.at[0]))
		return false;
	rec->g = args.at[0];
	rec->goid = g_word(g, layout.g_goid);
	rec->status = g_status(g);
	rec->p = p_kept_quiet(g_word(g, layout.g_m));
	return true;
}

/* g.waitreason is a Go string up to 1.10: its first bytes tell all of them apart that 1.4 has. */
static __always_inline uint64_t begin_of_text(const struct go_g *g, uint32_t offset)
{
	uint64_t text = g_word(g, offset), len = g_word(g, offset + 8), bytes;

	if (!text || !len)
		return 0;
	bytes = read_word(text);
	return len < 8 ? bytes & ((1ull << len * 8) - 1) : bytes;
}

/* m.waittraceev (one byte) and m.waittraceskip are neighbours. 1.4 has none; one frame is gopark's own. */
static __always_inline bool why_parks(struct raw_record *rec, const struct go_g *g, uint8_t *skip)
{
	uint64_t words[2];

	*skip = 1;
	if (layout.m_block_reason == LAYOUT_ABSENT) {
		rec->arg2 = begin_of_text(g, layout.g_waitreason);
		return true;
	}
	if (!read_user(words, sizeof(words), g_word(g, layout.g_m) + layout.m_block_reason))
		return false;
	rec->arg = (uint8_t)words[0];
	*skip = (uint8_t)words[1];
	if (!wait_reason_text)
		rec->arg2 = g_byte(g, layout.g_waitreason);
	return true;
}

SEC("?uprobe")
int old_park(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_PARK};
	struct go_g g;
	uint8_t skip;

	if (!begin_leave(ctx, &rec, &g) || !why_parks(&rec, &g, &skip))
		return 0;
	if (has_stack(skip))
		rec.stack = scan_g(&g, skip);
	send(&rec);
	return 0;
}

static __always_inline void leave_old(const struct pt_regs *ctx, uint8_t site, uint64_t arg, uint8_t skip)
{
	struct raw_record rec = {.site = site, .arg = arg};
	struct go_g g;

	if (!begin_leave(ctx, &rec, &g))
		return;
	if (has_stack(skip))
		rec.stack = scan_g(&g, skip);
	send(&rec);
}

/* gosched_m: the goroutine asked for it. In 1.4 newstack calls it, too, for one that is to be preempted. */
SEC("?uprobe")
int old_gosched(struct pt_regs *ctx)
{
	uint64_t caller = go_minor == 4 ? read_word(REG_SP(ctx)) : 0;

	leave_old(ctx, SITE_GOSCHED, lies_in(caller, places.newstack, places.newstack_end), 1);
	return 0;
}

/* gopreempt_m, goyield_m */
SEC("?uprobe")
int old_goyield(struct pt_regs *ctx)
{
	leave_old(ctx, SITE_GOYIELD, 1, 1);
	return 0;
}

SEC("?uprobe")
int old_preemptpark(struct pt_regs *ctx)
{
	leave_old(ctx, SITE_PREEMPTPARK, 0, 0);
	return 0;
}

/* ready(gp, traceskip) */
SEC("?uprobe")
int old_ready(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_READY};
	struct words args;
	struct go_g g;
	uint64_t curg;

	if (!entry_args(ctx, &args, 2))
		return 0;
	rec.g = args.at[0];
	curg = acting(&rec, current_m());
	if (curg && layout.m_block_reason == LAYOUT_ABSENT)
		args.at[1] = 2; /* 1.4 has no traceskip: systemstack's and goready's frames */
	if (curg && args.at[1] && read_g(&g, curg))
		rec.stack = scan_g(&g, (uint8_t)args.at[1]);
	send(&rec);
	return 0;
}

/* As gcMarkWorkerMode numbers them from 1.16 on. Before, 0 is a mode, too, and what tells is if it is a
 * worker. */
static __always_inline uint8_t worker_mode(const struct raw_record *rec)
{
	if (go_minor <= 15 && (!places.gc_worker || read_word(rec->g + layout.g_startpc) != places.gc_worker))
		return 0;
	return (uint8_t)read_word(rec->p + layout.p_gc_mark_worker_mode) + (go_minor <= 15);
}

/* At a call of casgstatus. */
SEC("?uprobe")
int old_unblock(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_UNBLOCK};
	struct words args;

	if (!call_args(ctx, &args, 1))
		return 0;
	rec.g = args.at[0];
	name_g(&rec);
	if (!acting(&rec, current_m()) && rec.p && layout.p_gc_mark_worker_mode != LAYOUT_ABSENT)
		rec.arg2 = worker_mode(&rec);
	send(&rec);
	return 0;
}

/* The number of the wait reason. */
static __always_inline uint8_t wait_reason(const struct go_g *g)
{
	uint64_t begin, len;

	if (!wait_reason_text)
		return g_byte(g, layout.g_waitreason);
	begin = begin_of_text(g, layout.g_waitreason);
	len = g_word(g, layout.g_waitreason + 8);
	for (uint8_t i = 1; i < WAIT_TEXTS; i++) {
		if (wait_texts[i].begin == begin && wait_texts[i].len == len)
			return i;
	}
	return 0;
}

/* As span(): where the goroutine left its thread the last time. */
static __always_inline void span_old(uint64_t gp)
{
	struct raw_record rec = {.site = SITE_SPAN, .g = gp};
	struct go_g g;
	uint64_t pc;

	if (!read_g(&g, gp))
		return;
	pc = g_word(&g, layout.g_sched_pc);
	if (pc >= places.gopark && pc < places.gopark_end)
		rec.arg = 1;
	else if (g_byte(&g, layout.g_preempt))
		rec.arg = 2;
	rec.arg2 = wait_reason(&g);
	rec.goid = g_word(&g, layout.g_goid);
	rec.status = g_status(&g);
	rec.p = p_kept_quiet(current_m());
	rec.stack = scan_g(&g, rec.arg == 1 ? park_skips[rec.arg2 & 63] : 1);
	send(&rec);
}

SEC("?uprobe")
int old_execute(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_EXECUTE};
	struct words args;

	if (!entry_args(ctx, &args, 1))
		return 0;
	if (spans_only) {
		span_old(args.at[0]);
		return 0;
	}
	rec.g = args.at[0];
	name_g(&rec);
	send(&rec);
	return 0;
}

SEC("?uprobe")
int old_destroy(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_DESTROY};
	struct words args;

	if (!entry_args(ctx, &args, 1))
		return 0;
	rec.g = args.at[0];
	name_g(&rec);
	rec.p = p_kept_quiet(current_m());
	send(&rec);
	return 0;
}

/* At casgstatus(newg, _Gdead, _Grunnable) in newproc1, which newproc has called by systemstack. */
SEC("?uprobe")
int old_newproc(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_NEWPROC};
	struct words args;
	struct go_g g;
	uint64_t curg;

	if (!call_args(ctx, &args, 2))
		return 0;
	rec.g = args.at[0];
	rec.status = (uint8_t)(args.at[1] >> 32);
	curg = acting(&rec, current_m());
	/* 1.4 keeps it nowhere but where the goroutine is to begin. */
	rec.arg2 =
		read_word(rec.g + (layout.g_startpc != LAYOUT_ABSENT ? layout.g_startpc : layout.g_sched_pc));
	rec.goid = next_goid(rec.p);
	if (curg && read_g(&g, curg))
		rec.stack = scan_g(&g, 2);
	send(&rec);
	return 0;
}

/* --- system calls --- */

/* At casgstatus(gp, _Grunning, _Gsyscall) in entersyscallblock: g.syscallpc and syscallsp are set. */
SEC("?uprobe")
int old_syscall_block(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_SYSCALL_BLOCK};
	struct words args;
	struct go_g g;

	if (!call_args(ctx, &args, 1) || !self(&rec, &g, args.at[0]))
		return 0;
	rec.stack = scan_g(&g, 1);
	send(&rec);
	return 0;
}

/* At the call of entersyscall in cgocall. */
SEC("?uprobe")
int old_call_enter(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_CALL_ENTER};
	struct go_g g;

	if (!self(&rec, &g, thread_g()))
		return 0;
	rec.stack = scan_here(ctx, &g, 1);
	send(&rec);
	return 0;
}

/* At reentersyscall(pc, sp) in cgocallbackg, with what its cgocall had kept. */
SEC("?uprobe")
int old_call_return(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_CALL_RETURN};
	struct words args;
	struct go_g g;

	if (!call_args(ctx, &args, 2) || !self(&rec, &g, thread_g()))
		return 0;
	rec.stack = scan_from(args.at[0], args.at[1], g_word(&g, layout.g_stack_hi), 1, 0);
	send(&rec);
	return 0;
}

SEC("?uprobe")
int old_call_exit(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_CALL_EXIT};
	struct go_g g;

	(void)ctx;
	if (self(&rec, &g, thread_g()))
		send(&rec);
	return 0;
}

static __always_inline void by_casgstatus_old(const struct pt_regs *ctx, uint8_t site)
{
	struct raw_record rec = {.site = site};
	struct words args;
	struct go_g g;

	if (call_args(ctx, &args, 1) && self(&rec, &g, args.at[0]))
		send(&rec);
}

SEC("?uprobe")
int old_exit_no_p(struct pt_regs *ctx)
{
	by_casgstatus_old(ctx, SITE_EXIT_NO_P);
	return 0;
}

SEC("?uprobe")
int old_needm(struct pt_regs *ctx)
{
	by_casgstatus_old(ctx, SITE_NEEDM);
	return 0;
}

SEC("?uprobe")
int old_dropm(struct pt_regs *ctx)
{
	by_casgstatus_old(ctx, SITE_DROPM);
	return 0;
}

/* --- Ps --- */

SEC("?uprobe")
int old_acquirep(struct pt_regs *ctx)
{
	about_p(SITE_ACQUIREP, read_word(REG_SP(ctx) + 8), 0);
	return 0;
}

SEC("?uprobe")
int old_releasep(struct pt_regs *ctx)
{
	(void)ctx;
	about_p(SITE_RELEASEP, read_word(current_m() + layout.m_p), 0);
	return 0;
}

SEC("?uprobe")
int old_handoffp(struct pt_regs *ctx)
{
	about_p(SITE_HANDOFFP, read_word(REG_SP(ctx) + 8), 0);
	return 0;
}

/* As by_curg, with a scanned stack. */
static __always_inline void by_curg_old(struct raw_record *rec, uint64_t m_address, uint8_t skip)
{
	struct go_m m;
	struct go_g curg;

	if (!m_address || !read_m(&m, m_address))
		return;
	rec->p = m.p ? m.p : p_in_syscall(m_address);
	if (m.curg && read_g(&curg, m.curg)) {
		rec->g = m.curg;
		rec->goid = g_word(&curg, layout.g_goid);
		rec->status = g_status(&curg);
		if (skip)
			rec->stack = scan_g(&curg, skip);
	}
	send(rec);
}

SEC("?uprobe")
int old_gcwait(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_GCWAIT};
	uint64_t m = current_m();

	(void)ctx;
	rec.arg2 = p_id(p_in_syscall(m));
	by_curg_old(&rec, m, 1);
	return 0;
}

SEC("?uprobe")
int old_procresize(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_PROCRESIZE, .arg = (uint32_t)read_word(REG_SP(ctx) + 8)};

	by_curg_old(&rec, current_m(), 1);
	return 0;
}

/* --- the world --- */

/* As traceGCSTWStart numbers them (Go 1.10 … 1.16 runtime/trace.go). Before, no stop is told of. */
enum { STW_MARK_TERMINATION, STW_SWEEP_TERMINATION, STW_UNKNOWN };

/* Up to 1.9 the goroutine has left its stack by systemstack: who called that is on top of it. */
static __always_inline uint64_t stw_caller(const struct pt_regs *ctx, uint64_t m_address)
{
	struct go_m m;

	if (go_minor >= 10)
		return REG_PC(ctx);
	if (!m_address || !read_m(&m, m_address) || !m.curg)
		return 0;
	return read_word(read_word(m.curg + layout.g_sched_sp));
}

SEC("?uprobe")
int old_stw_begin(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_STW_BEGIN, .arg = STW_UNKNOWN};
	uint64_t m = current_m(), pc = stw_caller(ctx, m);

	if (lies_in(pc, places.gc_start, places.gc_start_end))
		rec.arg = STW_SWEEP_TERMINATION;
	else if (lies_in(pc, places.gc_mark_done, places.gc_mark_done_end))
		rec.arg = STW_MARK_TERMINATION;
	by_curg_old(&rec, m, 0);
	return 0;
}

SEC("?uprobe")
int old_stw_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_STW_END};

	(void)ctx;
	by_curg_old(&rec, current_m(), 0);
	return 0;
}

/* The goroutine that runs this code, or whose code scheduler code runs for. */
static __always_inline bool self_old(struct raw_record *rec, struct go_g *g)
{
	uint64_t current = thread_g();

	if (!current || !read_g(g, current))
		return false;
	rec->g = current;
	rec->goid = g_word(g, layout.g_goid);
	rec->status = g_status(g);
	rec->p = p_kept_quiet(g_word(g, layout.g_m));
	return true;
}

/* In gcStart, on the goroutine's own stack; the tracer's stack begins with its caller. 1.4: on g0, in gc_m.
 */
SEC("?uprobe")
int old_gc_begin(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_GC_BEGIN};
	struct go_g g;

	if (go_minor == 4) {
		by_curg_old(&rec, current_m(), 2);
		return 0;
	}

	if (!self_old(&rec, &g))
		return 0;
	rec.stack = scan_here(ctx, &g, 1);
	send(&rec);
	return 0;
}

SEC("?uprobe")
int old_gc_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_GC_END};

	(void)ctx;
	by_curg_old(&rec, current_m(), 0);
	return 0;
}

/* --- the heap: as in gc.bpf.h --- */

SEC("?uprobe")
int old_assist(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_ASSIST_BEGIN};
	struct go_g g;

	if (!self_old(&rec, &g))
		return 0;
	rec.stack =
		scan_teller(ctx, g_word(&g, layout.g_stack_hi), places.assist_teller, places.assist_tells);
	send(&rec);
	return 0;
}

SEC("?uprobe")
int old_assist_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_ASSIST_END};
	struct go_g g;

	(void)ctx;
	if (self_old(&rec, &g))
		send(&rec);
	return 0;
}

/* The goroutine itself sweeps, or scheduler code on its behalf. */
static __always_inline void tell_sweep_old(const struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_SWEEP_BEGIN};
	uint64_t current = thread_g();
	struct go_m m;
	struct go_g g;

	if (!current || !read_m(&m, m_of_g(current)))
		return;
	rec.g = m.curg;
	rec.p = m.p;
	if (m.curg && read_g(&g, m.curg)) {
		rec.goid = g_word(&g, layout.g_goid);
		if (m.curg == current)
			rec.stack = scan_teller(ctx, g_word(&g, layout.g_stack_hi), places.sweep_teller,
						places.sweep_tells);
		else
			rec.stack = scan_g(&g, 1);
	}
	send(&rec);
}

/* The frame of (*mspan).sweep: the caller's frame pointer, the return address, the span. */
struct sweep_frame {
	uint64_t bp, pc, span;
};

/*
 * Who has called sweep, or has called sweepone which did; up to 1.11 that was called by gosweepone through
 * systemstack, which makes no frame. Frame pointers of these can be trusted, but on g0 there may be none.
 */
static __always_inline enum sweeper sweeper_old(const struct sweep_frame *frame)
{
	uint64_t above[2] = {frame->bp}; /* a frame: where the next one is, return address */

	if (lies_in(frame->pc, places.cache_span, places.cache_span_end))
		return SWEEP_CENTRAL;
	if (lies_in(frame->pc, places.reclaim_chunk, places.reclaim_chunk_end))
		return SWEEP_RECLAIM;
	for (uint32_t i = 0; i < (go_minor <= 11 ? 3u : 1u); i++) {
		if (bpf_probe_read_user(above, sizeof(above), (const void *)above[0]))
			return SWEEP_OTHER;
		if (lies_in(above[1], places.deduct, places.deduct_end))
			return SWEEP_CREDIT;
		if (i == 0 && lies_in(above[1], places.reclaim, places.reclaim_end))
			return SWEEP_RECLAIM;
	}
	return SWEEP_OTHER;
}

/* Where (*mspan).sweep would tell of the span: up to 1.8 as a range of its own. */
SEC("?uprobe")
int old_sweep_begin(struct pt_regs *ctx)
{
	uint32_t tid = this_thread();
	struct sweep_frame frame;
	enum sweeper who;
	struct sweep *sweep;
	bool first;
	uint16_t allocated = 0;

	if (go_minor <= 8) {
		tell_sweep_old(ctx);
		return 0;
	}
	if (!read_user(&frame, sizeof(frame), REG_FP(ctx)))
		return 0;
	who = sweeper_old(&frame);
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
	sweep->span = frame.span;
	sweep->npages = read_word(sweep->span + layout.span_npages);
	sweep->elemsize = read_word(sweep->span + layout.span_elemsize);
	read_user(&allocated, sizeof(allocated), sweep->span + layout.span_alloc_count);
	sweep->allocated = allocated;
	sweep->swept += sweep->npages * GO_PAGE;
	if (first)
		tell_sweep_old(ctx);
	return 0;
}

/* At the end of reclaim; up to 1.8 of the sweep of one span, of which no sizes are told. */
SEC("?uprobe")
int old_sweep_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_SWEEP_END};

	(void)ctx;
	if (go_minor >= 9) {
		end_reclaim();
		return 0;
	}
	rec.goid = bpf_ktime_get_ns();
	send(&rec);
	return 0;
}

/* At the end of reclaimChunk. */
SEC("?uprobe")
int old_reclaim_chunk(struct pt_regs *ctx)
{
	if (take_chunk())
		tell_sweep_old(ctx);
	return 0;
}

static __always_inline void tell_heap(uint8_t site, uint64_t bytes)
{
	struct raw_record rec = {.site = site, .arg = bytes};
	struct go_m m;

	if (!read_m(&m, current_m()))
		return;
	rec.g = m.curg;
	rec.p = m.p;
	send(&rec);
}

/* Where memstats.heap_live has grown. */
SEC("?uprobe")
int old_heap_alloc(struct pt_regs *ctx)
{
	uint32_t tid = this_thread();
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &tid);

	(void)ctx;
	if (sweep)
		end_sweep(tid, sweep);
	tell_heap(SITE_HEAP_ALLOC, read_word(places.gc_controller + layout.gc_heap_live));
	return 0;
}

SEC("?uprobe")
int old_heap_reset(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_HEAP_ALLOC};

	(void)ctx;
	rec.arg = read_word(places.gc_controller + layout.gc_heap_live);
	by_curg_old(&rec, current_m(), 0);
	return 0;
}

/* ~0 stands for none. */
SEC("?uprobe")
int old_heap_goal(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_HEAP_GOAL};

	(void)ctx;
	rec.arg = read_word(places.next_gc);
	if (rec.arg == ~0ull)
		rec.arg = 0;
	by_curg_old(&rec, current_m(), 0);
	return 0;
}

/* --- runtime/trace's annotations (1.11 and later): as in user.bpf.h --- */

/* From the caller on: the function has not made its frame yet. */
static __always_inline uint64_t scan_caller(const struct pt_regs *ctx, const struct go_g *g, uint8_t skip)
{
	return scan_from(read_word(REG_SP(ctx)), REG_SP(ctx) + 8, g_word(g, layout.g_stack_hi), skip, 0);
}

/* userTaskCreate(id, parentID, taskType) */
SEC("?uprobe")
int old_task_begin(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_TASK_BEGIN};
	struct text name, none = {0};
	struct words args;
	struct go_g g;

	if (is_first_of_two(ctx) || !entry_args(ctx, &args, 4) || !self_old(&rec, &g))
		return 0;
	rec.arg = args.at[0];
	rec.arg2 = args.at[1];
	name = (struct text){args.at[2], args.at[3]};
	rec.stack = scan_caller(ctx, &g, 1);
	send_text(&rec, name, none);
	return 0;
}

/* userTaskEnd(id) */
SEC("?uprobe")
int old_task_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_TASK_END};
	struct words args;
	struct go_g g;

	if (is_first_of_two(ctx) || !entry_args(ctx, &args, 1) || !self_old(&rec, &g))
		return 0;
	rec.arg = args.at[0];
	rec.stack = scan_caller(ctx, &g, 0);
	send(&rec);
	return 0;
}

/* userRegion(id, mode, regionType) */
SEC("?uprobe")
int old_region(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_REGION_BEGIN};
	struct text name, none = {0};
	struct words args;
	struct go_g g;

	if (is_first_of_two(ctx) || !entry_args(ctx, &args, 4) || args.at[1] > 1 || !self_old(&rec, &g))
		return 0;
	if (args.at[1])
		rec.site = SITE_REGION_END;
	rec.arg = args.at[0];
	name = (struct text){args.at[2], args.at[3]};
	rec.stack = scan_caller(ctx, &g, 1);
	send_text(&rec, name, none);
	return 0;
}

/* userLog(id, category, message) */
SEC("?uprobe")
int old_user_log(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_LOG};
	struct text category, message;
	struct words args;
	struct go_g g;

	if (is_first_of_two(ctx) || !entry_args(ctx, &args, 5) || !self_old(&rec, &g))
		return 0;
	rec.arg = args.at[0];
	category = (struct text){args.at[1], args.at[2]};
	message = (struct text){args.at[3], args.at[4]};
	rec.stack = scan_caller(ctx, &g, 1);
	send_text(&rec, category, message);
	return 0;
}

#endif
