/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Programs for probes in inlined copies of the runtime's functions. The cookie says where a copy has what it
 * is about (bpf/copy_place.h). A copy of casgstatus is probed behind its compare-and-swap, so the status in
 * memory is the new one; no other thread acts on it before this thread has published the goroutine, which is
 * later in the code (Go 1.21 to 1.27 runtime/proc.go).
 */
#ifndef GOTRACE_COPIES_BPF_H
#define GOTRACE_COPIES_BPF_H

#include "bpf/copy_place.h"
#include "bpf/gc.bpf.h"
#include "bpf/goroutine.bpf.h"
#include "bpf/proc.bpf.h"
#include "bpf/syscall.bpf.h"

/* The goroutine that changes, and its status before. Returns false if the change was not made. */
static __always_inline bool copied_change(struct pt_regs *ctx, struct raw_record *rec, uint64_t cookie)
{
	if (cookie & COPY_IF_CHANGED && IS_EQUAL(ctx)) {
		count(HITS_SILENT, 1);
		return false;
	}
	rec->g = reg_value(ctx, cookie & COPY_REGISTER);
	read_goid_and_status(rec);
	if (cookie & COPY_IF_CHANGED)
		rec->status = (uint8_t)(cookie >> COPY_OLD_SHIFT & COPY_OLD);
	return true;
}

static __always_inline uint64_t copied_upper(uint64_t cookie)
{
	return (uint64_t)((__s64)cookie >> COPY_UPPER);
}

static __always_inline uint64_t copied_argument(const struct pt_regs *ctx, uint64_t cookie)
{
	if (cookie & COPY_IN_REGISTER)
		return reg_value(ctx, cookie & COPY_REGISTER);
	return cookie & COPY_IN_SLOT ? read_word(REG_SP(ctx) + copied_upper(cookie)) : copied_upper(cookie);
}

/* In the functions that inline ready, its argument traceskip is 0. */
HIT(ready_copy)
{
	struct raw_record rec = {.site = SITE_READY};

	if (copied_change(ctx, &rec, bpf_get_attach_cookie(ctx)))
		ready_by(ctx, &rec, 0);
}

HIT(unblock_copy)
{
	struct raw_record rec = {.site = SITE_UNBLOCK};
	uint64_t cookie = bpf_get_attach_cookie(ctx);

	if (copied_change(ctx, &rec, cookie))
		unblock_by(ctx, &rec, REG_PC(ctx) + copied_upper(cookie));
}

HIT(newproc_copy)
{
	struct raw_record rec = {.site = SITE_NEWPROC};
	uint64_t cookie = bpf_get_attach_cookie(ctx);

	if (!copied_change(ctx, &rec, cookie))
		return;
	/* At a call, the new status is an argument. At the jump it is in memory. */
	if (cookie & COPY_IF_CHANGED)
		read_goid_and_status(&rec);
	else
		rec.status = (uint8_t)GO_ARG(ctx, 2);
	create_by(ctx, &rec);
}

HIT(destroy_copy)
{
	struct raw_record rec = {.site = SITE_DESTROY};

	if (!copied_change(ctx, &rec, bpf_get_attach_cookie(ctx)))
		return;
	if (p_changes_hidden())
		rec.p = p_after_hidden_change(this_m(ctx));
	send(&rec);
}

/* preemptPark has just set the scan bit, so the stack stays. */
HIT(preemptpark_copy)
{
	struct raw_record rec = {.site = SITE_PREEMPTPARK};
	struct go_g g;

	if (!copied_change(ctx, &rec, bpf_get_attach_cookie(ctx)) || !read_leaver(&rec, &g, rec.g))
		return;
	rec.status = GRUNNING;
	if (has_stack(0))
		rec.stack = stack_of_stopped(&g, 0, false, NULL);
	send(&rec);
}

/* gopreempt_m, as gosched_copy. */
HIT(goyield_copy)
{
	struct raw_record rec = {.site = SITE_GOYIELD, .arg = 1};
	struct go_m m;

	if (read_m(&m, this_m(ctx)))
		leave(&rec, m.curg, (uint8_t)stop_skip);
}

/* goschedImpl, at its check whether the tracer is on, before the change: the stack is still the goroutine's.
 */
HIT(gosched_copy)
{
	struct raw_record rec = {.site = SITE_GOSCHED, .arg = copied_upper(bpf_get_attach_cookie(ctx))};
	struct go_m m;

	if (read_m(&m, this_m(ctx)))
		leave(&rec, m.curg, (uint8_t)stop_skip);
}

static __always_inline void copied_in_syscall(struct pt_regs *ctx, uint8_t site)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	struct raw_record rec = {.site = site};
	struct go_g g;

	if (!copied_change(ctx, &rec, cookie) || !read_caller(&rec, &g, rec.g))
		return;
	if (cookie & COPY_IF_CHANGED)
		rec.status = (uint8_t)(cookie >> COPY_OLD_SHIFT & COPY_OLD);
	send(&rec);
}

HIT(exit_no_p_copy)
{
	copied_in_syscall(ctx, SITE_EXIT_NO_P);
}

HIT(needm_copy)
{
	copied_in_syscall(ctx, SITE_NEEDM);
}

HIT(dropm_copy)
{
	copied_in_syscall(ctx, SITE_DROPM);
}

/* reentersyscall in cgocallbackg, once it has saved where the goroutine called C. */
HIT(cgo_return_copy)
{
	struct raw_record rec = {.site = SITE_CGO_RETURN};
	struct go_g g;

	if (!copied_change(ctx, &rec, bpf_get_attach_cookie(ctx)) || !read_caller(&rec, &g, rec.g))
		return;
	rec.status = GRUNNING;
	rec.stack = stack_in_call(&g, REG_FP(ctx));
	send(&rec);
}

/* wirep, at its comparison of the P's status. */
HIT(acquirep_copy)
{
	about_p(SITE_ACQUIREP, reg_value(ctx, bpf_get_attach_cookie(ctx) & COPY_REGISTER),
		is_borrowed(REG_FP(ctx), REG_PC(ctx)));
}

/* syscallingThread.releaseP, before it clears p.m. */
HIT(stealp_copy)
{
	uint64_t p = copied_argument(ctx, bpf_get_attach_cookie(ctx));

	if (p)
		about_p(SITE_STEALP, p, (uint32_t)read_word(read_word(p + layout.p_m) + layout.m_procid));
}

/* The compare-and-swap that takes the P from a thread in a system call; handoffp follows. */
HIT(handoffp_copy)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);

	if (IS_EQUAL(ctx))
		count(HITS_SILENT, 1);
	else
		about_p(SITE_HANDOFFP, reg_value(ctx, cookie & COPY_REGISTER), 0);
}

HIT(stw_begin_copy)
{
	struct raw_record rec = {.site = SITE_STW_BEGIN};

	rec.arg = (uint8_t)copied_argument(ctx, bpf_get_attach_cookie(ctx));
	by_curg(&rec, this_m(ctx), 2);
}

HIT(procresize_copy)
{
	struct raw_record rec = {.site = SITE_PROCRESIZE};

	rec.arg = (uint32_t)copied_argument(ctx, bpf_get_attach_cookie(ctx));
	by_curg(&rec, this_m(ctx), 1);
}

/* (*gcControllerState).update, once it has changed heapLive. */
HIT(heap_alloc_copy)
{
	struct raw_record rec = {.site = SITE_HEAP_ALLOC};
	uint32_t tid = this_thread();
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &tid);
	struct go_m m;

	if (sweep)
		end_sweep(tid, sweep);
	rec.arg = known_live();
	if (!rec.arg || !read_m(&m, this_m(ctx))) {
		count(HITS_SILENT, 1);
		return;
	}
	rec.g = m.curg;
	rec.p = m.p;
	send(&rec);
}

/* (*gcControllerState).resetLive, once it has set heapLive. */
HIT(heap_reset_copy)
{
	struct raw_record rec = {.site = SITE_HEAP_ALLOC, .arg = known_live()};

	by_curg(&rec, this_m(ctx), NO_STACK);
}

#endif
