/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls of a Go program's functions that --region and --task name, as
 * functions.bpf.h for threads: a goroutine may be on another thread when the
 * call is over, and on another stack. What stays is how far the caller's stack
 * pointer is below the end of that (copystack, Go 1.26 runtime/stack.go, moves
 * all that is used to the end of the new one).
 */
#ifndef GOTRACE_GO_FUNCTIONS_BPF_H
#define GOTRACE_GO_FUNCTIONS_BPF_H

#include "bpf/condition.bpf.h"
#include "bpf/scan.bpf.h"
#include "bpf/user.bpf.h"

/* Of the goroutine whose function this is; false for the scheduler's own, and for gotrace's (calibration). */
static __always_inline bool is_call(const struct pt_regs *ctx, struct raw_record *rec, struct go_g *g,
				    uint64_t cookie)
{
	uint32_t condition = FUNCTION_CONDITION(cookie);
	uint64_t hi;

	if (bpf_get_current_pid_tgid() >> 32 != target_tgid)
		return false;
	if ((condition && !is_taken(REG_FLAGS(ctx), condition - 1)) ||
	    !read_self(rec, g, go_minor <= 16 ? current_g() : REG_G(ctx)) || !rec->goid) {
		count(HITS_SILENT, 1);
		return false;
	}
	hi = g_word(g, layout.g_stack_hi);
	rec->arg = FUNCTION_NUMBER(cookie);
	rec->arg2 = REG_SP(ctx) + FUNCTION_DISTANCE(cookie) * 8 - hi;
	return true;
}

static __always_inline void begin_call(struct pt_regs *ctx, bool old)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	struct raw_record rec = {.site = SITE_FUNCTION_BEGIN};
	struct go_g g;

	if (!is_call(ctx, &rec, &g, cookie))
		return;
	if (old)
		rec.stack = scan_here(ctx, &g, 0);
	else if (FUNCTION_DISTANCE(cookie) == 1)
		rec.stack = stack_of_entry(REG_PC(ctx) + 1, REG_SP(ctx), REG_FP(ctx),
					   g_word(&g, layout.g_stack_hi));
	send(&rec);
	if (cookie & FUNCTION_ENDS_THERE) {
		rec.site = SITE_FUNCTION_END;
		rec.stack = 0;
		send(&rec);
	}
}

SEC("?uprobe")
int function_begin(struct pt_regs *ctx)
{
	begin_call(ctx, false);
	return 0;
}

SEC("?uprobe")
int old_function_begin(struct pt_regs *ctx)
{
	begin_call(ctx, true);
	return 0;
}

SEC("?uprobe")
int function_end(struct pt_regs *ctx)
{
	struct raw_record rec = {.site = SITE_FUNCTION_END};
	struct go_g g;

	if (is_call(ctx, &rec, &g, bpf_get_attach_cookie(ctx)))
		send(&rec);
	return 0;
}

#endif
