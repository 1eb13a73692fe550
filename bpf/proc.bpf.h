/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ps that change hands. These events are rare compared with goroutine switches. */
#ifndef GOTRACE_PROC_BPF_H
#define GOTRACE_PROC_BPF_H

#include "bpf/abi0.bpf.h"

static __always_inline void about_p(uint8_t site, uint64_t p, uint64_t arg)
{
	struct raw_record rec = {.site = site, .p = p, .arg = arg};

	if (!p)
		return;
	rec.arg2 = p_id(p);
	send(&rec);
}

/*
 * Whether allocm takes the P, for as long as it allocates: by acquirep, which from Go 1.26 on calls wirep by
 * way of acquirepNoTrace. fp: the frame of the function that pc is in.
 */
static __always_inline bool is_borrowed(uint64_t fp, uint64_t pc)
{
	uint64_t frame[2] = {fp, pc};

	for (int i = 0; i < 3; i++) {
		if (lies_in(frame[1], places.allocm, places.allocm_end) ||
		    lies_in(frame[1], places.newm, places.newm_end))
			return true;
		/* Where it cannot be read, nothing is lost: it is another caller. */
		if (go_minor < 26 || i == 2 ||
		    bpf_probe_read_user(frame, sizeof(frame), (const void *)frame[0]))
			return false;
	}
	return false;
}

/* acquirep(pp), wirep(pp) */
HIT(acquirep)
{
	uint64_t args[1];

	if (entry_args(ctx, args, 1))
		about_p(SITE_ACQUIREP, args[0], is_borrowed(REG_FP(ctx), return_address(ctx)));
}

HIT(releasep)
{
	about_p(SITE_RELEASEP, read_word(this_m(ctx) + layout.m_p), 0);
}

/* syscallingThread.releaseP (1.26), receiver by value: AX = gp, BX = mp, CX = pp. */
HIT(stealp)
{
	about_p(SITE_STEALP, GO_ARG(ctx, 2), (uint32_t)read_word(GO_ARG(ctx, 1) + layout.m_procid));
}

/* handoffp(pp) */
HIT(handoffp)
{
	uint64_t args[1];

	if (entry_args(ctx, args, 1))
		about_p(SITE_HANDOFFP, args[0], 0);
}

/*
 * Sends the record of an action of the thread's own goroutine, on g0 or on its own stack. skip: leaf frames
 * to leave out of the stack; NO_STACK: no stack.
 */
#define NO_STACK (-1)

static __always_inline void by_curg(struct raw_record *rec, uint64_t m_address, int skip)
{
	struct go_m m;
	struct go_g curg;

	if (!m_address || !read_m(&m, m_address))
		return;
	rec->p = m.p;
	if (!m.p && layout.m_oldp != LAYOUT_ABSENT)
		rec->p = read_word(m_address + layout.m_oldp);
	if (m.curg && read_g(&curg, m.curg)) {
		rec->g = m.curg;
		rec->goid = g_word(&curg, layout.g_goid);
		rec->status = g_status(&curg);
		if (skip != NO_STACK)
			rec->stack = rec->site == SITE_GCWAIT && layout.g_syscallbp == LAYOUT_ABSENT
					     ? stack_in_call(&curg, g_word(&curg, layout.g_sched_bp))
					     : stack_of_g(&curg, (uint8_t)skip);
	} else if (!m.curg) {
		rec->g = root_of_bubble(m_address);
	}
	send(rec);
}

HIT(gcwait)
{
	struct raw_record rec = {.site = SITE_GCWAIT};
	uint64_t m = this_m(ctx);

	rec.arg2 = p_id(p_in_syscall(m));
	by_curg(&rec, m, 1);
}

/* procresize(nprocs int32) */
HIT(procresize)
{
	struct raw_record rec = {.site = SITE_PROCRESIZE};
	uint64_t args[1];

	if (!entry_args(ctx, args, 1))
		return;
	rec.arg = (uint32_t)args[0];
	by_curg(&rec, this_m(ctx), 1);
}

#endif
