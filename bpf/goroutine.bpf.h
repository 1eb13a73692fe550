/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines change state. Registers are those of Go's ABI on amd64 (1.17 on):
 * AX, BX, CX, DI, SI hold the arguments, R14 the current g: g0 in scheduler code.
 * How many leaf frames a stack leaves out is what the runtime's own tracer
 * passes to traceStack for the event (Go 1.22 … 1.26, runtime/traceruntime.go).
 */
#ifndef GOTRACE_GOROUTINE_BPF_H
#define GOTRACE_GOROUTINE_BPF_H

#include "bpf/stack.bpf.h"

/* The goroutine's own stack, when it gives up its thread: it is in g.sched by now (mcall). */
static __always_inline void leave(uint64_t gp, uint8_t site, uint64_t arg, uint8_t skip)
{
	struct raw_record rec = {.site = site, .g = gp, .arg = arg};
	struct go_g g;

	if (!read_g(&g, gp))
		return;
	rec.goid = g_word(&g, layout.g_goid);
	rec.status = g_status(&g);
	rec.p = p_kept_quiet(g_word(&g, layout.g_m));
	if (has_stack(skip))
		rec.stack = stack_of_stopped(&g, skip, site == SITE_GOYIELD);
	send(&rec);
}

SEC("?uprobe")
int park(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_PARK, .g = GO_ARG(ctx, 0)};
	uint32_t first =
		layout.m_trace_skip < layout.m_block_reason ? layout.m_trace_skip : layout.m_block_reason;
	uint64_t words[2];
	uint64_t m;
	struct go_g g;
	uint8_t skip;

	if (!read_g(&g, GO_ARG(ctx, 0)))
		return 0;
	m = g_word(&g, layout.g_m);
	/* m.waitTraceSkip and m.waitTraceBlockReason (one byte) are neighbours. */
	if (!read_user(words, sizeof(words), m + first))
		return 0;
	rec.arg = (uint8_t)words[layout.m_block_reason == first ? 0 : 1];
	rec.arg2 = g_byte(&g, layout.g_waitreason);
	rec.goid = g_word(&g, layout.g_goid);
	rec.status = g_status(&g);
	rec.p = p_kept_quiet(m);
	skip = (uint8_t)words[layout.m_trace_skip == first ? 0 : 1];
	if (has_stack(skip))
		rec.stack = stack_of_g(&g, skip);
	send(&rec);
	return 0;
}

SEC("?uprobe")
int gosched(struct pt_regs *ctx)
{
	leave(GO_ARG(ctx, 0), SITE_GOSCHED, go_minor >= 22 ? (uint8_t)GO_ARG(ctx, 1) : 0, stop_skip);
	return 0;
}

SEC("?uprobe")
int goyield(struct pt_regs *ctx)
{
	leave(GO_ARG(ctx, 0), SITE_GOYIELD, 1, stop_skip);
	return 0;
}

SEC("?uprobe")
int preemptpark(struct pt_regs *ctx)
{
	leave(GO_ARG(ctx, 0), SITE_PREEMPTPARK, 0, 0);
	return 0;
}

/* Whom this thread runs, when it does something to another goroutine. */
static __always_inline uint64_t acting(struct raw_record *rec, uint64_t m_address)
{
	struct go_m m;

	if (!read_m(&m, m_address))
		return 0;
	rec->arg = m.curg;
	rec->p = m.p;
	return m.curg;
}

/* The stack of the one who acts. The walk comes last in a program: the verifier goes through what follows
 * it once for each of its many ends. */
static __always_inline uint64_t acting_stack(uint64_t curg, uint8_t skip)
{
	struct go_g g;

	return curg && has_stack(skip) && read_g(&g, curg) ? stack_of_g(&g, skip) : 0;
}

/* g.atomicstatus (4 bytes, 8 apart) and g.goid stand side by side: one read. */
static __always_inline void name_g(struct raw_record *rec)
{
	uint64_t words[2];

	if (!read_user(words, sizeof(words), rec->g + layout.g_status))
		return;
	rec->status = (uint8_t)((uint32_t)words[0] & ~GSCAN);
	rec->goid = words[1];
}

SEC("?uprobe")
int ready(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_READY, .g = GO_ARG(ctx, 0)};

	rec.stack = acting_stack(acting(&rec, m_of_g(REG_G(ctx))), (uint8_t)GO_ARG(ctx, 1));
	send(&rec);
	return 0;
}

/*
 * At a call of casgstatus. injectglist may be called by a goroutine itself (the
 * end of a GC cycle): then its stack goes on from here, in the middle of a function.
 */
SEC("?uprobe")
int unblock(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_UNBLOCK, .g = GO_ARG(ctx, 0)};
	uint64_t pc = places.injectglist_tells ? places.injectglist_tells : REG_PC(ctx) + 1;
	uint64_t bp = REG_FP(ctx), current = REG_G(ctx), curg;
	struct go_g g;

	name_g(&rec);
	curg = acting(&rec, m_of_g(current));
	if (go_minor >= 22 && curg && read_g(&g, curg)) {
		if (curg != current) {
			pc = g_word(&g, layout.g_sched_pc);
			bp = g_word(&g, layout.g_sched_bp);
		}
		rec.stack = stack_from(pc, bp, g_word(&g, layout.g_stack_hi), 0);
	} else if (!curg && rec.p) {
		/* Set before the worker is made runnable, which its P then runs at once (findRunnable). */
		rec.arg2 = (uint8_t)read_word(rec.p + layout.p_gc_mark_worker_mode);
	}
	send(&rec);
	return 0;
}

/*
 * The goroutine is not running yet, so its saved registers say where it left
 * its thread the last time: in gopark, or where it was made to yield.
 */
static __always_inline void span(uint64_t gp, uint64_t g0)
{
	struct raw_record rec = {.site = SITE_SPAN, .g = gp};
	struct go_g g;
	uint64_t pc;
	uint8_t reason, skip;

	if (!read_g(&g, gp))
		return;
	pc = g_word(&g, layout.g_sched_pc);
	reason = g_byte(&g, layout.g_waitreason);
	if (pc >= places.gopark && pc < places.gopark_end)
		rec.arg = 1;
	else if (g_byte(&g, layout.g_preempt)) /* execute has not cleared it yet */
		rec.arg = 2;
	rec.arg2 = reason;
	rec.goid = g_word(&g, layout.g_goid);
	rec.status = g_status(&g);
	if (quiet_ps)
		rec.p = p_kept_quiet(m_of_g(g0));
	skip = rec.arg == 1 ? park_skips[reason & 63] : (uint8_t)stop_skip;
	if (has_stack(skip))
		rec.stack = stack_of_stopped(&g, skip, rec.arg == 2);
	send(&rec);
}

/*
 * The thread's P is known from its acquirep, and the goroutine from its
 * creation: from Go 1.24 on, where that brings the id, nothing is read here.
 */
SEC("?uprobe")
int execute(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_EXECUTE, .g = GO_ARG(ctx, 0)};

	if (spans_only) {
		span(GO_ARG(ctx, 0), REG_G(ctx));
		return 0;
	}
	if (layout.p_goidcache != LAYOUT_ABSENT)
		name_g(&rec);
	send(&rec);
	return 0;
}

SEC("?uprobe")
int destroy(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_DESTROY, .g = GO_ARG(ctx, 0)};

	name_g(&rec);
	if (quiet_ps)
		rec.p = p_kept_quiet(m_of_g(REG_G(ctx)));
	send(&rec);
	return 0;
}

/* Up to Go 1.23 newproc1 takes the id after this site: the next one in the P's cache, if that is not empty.
 */
static __always_inline uint64_t next_goid(uint64_t p)
{
	uint64_t next = read_word(p + layout.p_goidcache);

	return next == read_word(p + layout.p_goidcacheend) ? 0 : next;
}

SEC("?uprobe")
int newproc(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_NEWPROC, .g = GO_ARG(ctx, 0)};
	uint64_t curg = acting(&rec, m_of_g(REG_G(ctx)));

	rec.status = (uint8_t)GO_ARG(ctx, 2);
	rec.arg2 = read_word(rec.g + layout.g_startpc);
	if (layout.p_goidcache != LAYOUT_ABSENT)
		rec.goid = next_goid(rec.p);
	else
		rec.goid = read_word(rec.g + layout.g_goid);
	rec.stack = acting_stack(curg, 2);
	send(&rec);
	return 0;
}

SEC("?uprobe")
int coro(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_CORO, .g = GO_ARG(ctx, 0)};
	uint8_t exits = 0;

	name_g(&rec);
	if (quiet_ps)
		rec.p = p_kept_quiet(m_of_g(REG_G(ctx)));
	rec.arg = read_word(read_word(GO_ARG(ctx, 0) + layout.g_coroarg) + layout.coro_gp);
	read_user(&exits, sizeof(exits), GO_ARG(ctx, 0) + layout.g_coroexit);
	rec.arg2 = exits;
	send(&rec);
	return 0;
}

#endif
