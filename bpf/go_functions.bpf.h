/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls of a Go program's functions named by --region and --task; functions.bpf.h does the same for threads.
 * A goroutine may be on another thread, and on another stack, when the call ends. The distance from the
 * caller's stack pointer to the end of the stack does not change: copystack (Go 1.26 runtime/stack.go) moves
 * everything in use to the end of the new stack.
 */
#ifndef GOTRACE_GO_FUNCTIONS_BPF_H
#define GOTRACE_GO_FUNCTIONS_BPF_H

#include "bpf/condition.bpf.h"
#include "bpf/return.bpf.h"
#include "bpf/scan.bpf.h"
#include "bpf/user.bpf.h"
#include "bpf/values.bpf.h"

/*
 * Fills in the record of the goroutine that makes the call. Returns false if the probed jump is not taken,
 * and for calls of the scheduler and of gotrace itself (calibration).
 */
static __always_inline bool is_call(const struct pt_regs *ctx, struct raw_record *rec, struct go_g *g,
				    uint64_t cookie)
{
	uint32_t condition = FUNCTION_CONDITION(cookie);
	uint64_t hi;

	if (bpf_get_current_pid_tgid() >> 32 != target_tgid)
		return false;
	if ((condition && !is_taken(REG_FLAGS(ctx), condition - 1)) || !read_self(ctx, rec, g) ||
	    !rec->goid) {
		count(HITS_SILENT, 1);
		return false;
	}
	hi = g_word(g, layout.g_stack_hi);
	rec->arg = FUNCTION_NUMBER(cookie);
	rec->arg2 = caller_sp(ctx, cookie) - hi;
	return true;
}

/* Sends the record with the values that the probe reads. */
static __always_inline void send_call(const struct pt_regs *ctx, struct raw_record *rec, uint64_t cookie)
{
	if (!reads_values || !FUNCTION_VALUES(cookie)) {
		send(rec);
		return;
	}
	rec->tid = own_tid();
	rec->time = bpf_ktime_get_ns();
	put_values(ctx, rec, FUNCTION_VALUES(cookie), caller_sp(ctx, cookie));
}

HIT(function_begin)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	struct raw_record rec = {.site = SITE_FUNCTION_BEGIN};
	struct go_g g;

	if (!is_call(ctx, &rec, &g, cookie))
		return;
	if (has_abi0())
		rec.stack = scan_here(ctx, &g, 0);
	else if (FUNCTION_DISTANCE(cookie) <= 1) /* no frame yet */
		rec.stack =
			walk_entry(REG_PC(ctx) + 1, REG_SP(ctx), REG_FP(ctx), g_word(&g, layout.g_stack_hi));
	send_call(ctx, &rec, cookie);
	if (cookie & FUNCTION_ENDS_THERE) {
		rec.site = SITE_FUNCTION_END;
		rec.stack = 0;
		send(&rec);
	}
}

static __always_inline void end_call(struct pt_regs *ctx, uint64_t cookie)
{
	struct raw_record rec = {.site = SITE_FUNCTION_END};
	struct go_g g;

	if (is_call(ctx, &rec, &g, cookie))
		send_call(ctx, &rec, cookie);
}

/* run_return() runs the `ret` even if the lease is closed: otherwise the kernel would single-step it. */
SEC("?uprobe")
int function_end(struct pt_regs *ctx)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx), began = begin_hit();

	if (began) {
		end_call(ctx, cookie);
		end_hit(began, TIMED_PROBES, TIMED_PROBES_NS);
	}
	run_return(ctx, cookie);
	return 0;
}

#endif
