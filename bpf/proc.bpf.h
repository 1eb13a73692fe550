/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ps change hands: rare, next to goroutine switches. */
#ifndef GOTRACE_PROC_BPF_H
#define GOTRACE_PROC_BPF_H

#include "bpf/stack.bpf.h"

static __always_inline void about_p(uint8_t site, uint64_t p, uint64_t arg)
{
	struct raw_record rec = {.site = site, .p = p, .arg = arg};

	if (!p)
		return;
	rec.arg2 = p_id(p);
	send(&rec);
}

SEC("?uprobe")
int acquirep(struct pt_regs *ctx)
{
	about_p(SITE_ACQUIREP, GO_ARG(ctx, 0), 0);
	return 0;
}

SEC("?uprobe")
int releasep(struct pt_regs *ctx)
{
	about_p(SITE_RELEASEP, read_word(m_of_g(REG_G(ctx)) + layout.m_p), 0);
	return 0;
}

/* syscallingThread.releaseP (1.26), receiver by value: AX = gp, BX = mp, CX = pp. */
SEC("?uprobe")
int stealp(struct pt_regs *ctx)
{
	about_p(SITE_STEALP, GO_ARG(ctx, 2), (uint32_t)read_word(GO_ARG(ctx, 1) + layout.m_procid));
	return 0;
}

SEC("?uprobe")
int handoffp(struct pt_regs *ctx)
{
	about_p(SITE_HANDOFFP, GO_ARG(ctx, 0), 0);
	return 0;
}

/* What the thread's own goroutine does, seen from scheduler code (g0) or from its own. */
static __always_inline void by_curg(struct raw_record *rec, uint64_t m_address, uint8_t skip, bool with_stack)
{
	struct go_m m;
	struct go_g curg;

	if (!read_m(&m, m_address))
		return;
	rec->p = m.p;
	if (!m.p && layout.m_oldp != LAYOUT_ABSENT)
		rec->p = read_word(m_address + layout.m_oldp);
	if (m.curg && read_g(&curg, m.curg)) {
		rec->g = m.curg;
		rec->goid = g_word(&curg, layout.g_goid);
		rec->status = g_status(&curg);
		if (with_stack)
			rec->stack = rec->site == SITE_GCWAIT && layout.g_syscallbp == LAYOUT_ABSENT
					     ? stack_in_call(&curg, g_word(&curg, layout.g_sched_bp))
					     : stack_of_g(&curg, skip);
	}
	send(rec);
}

SEC("?uprobe")
int gcwait(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_GCWAIT};
	uint64_t m = m_of_g(REG_G(ctx));

	rec.arg2 = p_id(p_in_syscall(m));
	by_curg(&rec, m, 1, true);
	return 0;
}

SEC("?uprobe")
int procresize(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_PROCRESIZE, .arg = (uint32_t)GO_ARG(ctx, 0)};

	by_curg(&rec, m_of_g(REG_G(ctx)), 1, true);
	return 0;
}

#endif
