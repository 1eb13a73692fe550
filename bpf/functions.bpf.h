/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls of the functions that --region and --task name: probes where a call
 * begins, and at every instruction that may end it. Not at the return address,
 * as return probes are: who walks a stack would find the kernel's there, and an
 * exception could not be thrown past it.
 */
#ifndef GOTRACE_FUNCTIONS_BPF_H
#define GOTRACE_FUNCTIONS_BPF_H

#include "bpf/condition.bpf.h"
#include "bpf/thread.bpf.h"

static __always_inline bool is_traced_now(struct raw_record *rec)
{
	uint64_t ids = bpf_get_current_pid_tgid();

	rec->tid = (uint32_t)ids;
	rec->goid = ids >> 32;
	return is_traced(ids >> 32);
}

SEC("?uprobe")
int function_begin(struct pt_regs *ctx)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	struct raw_record rec = {.site = SITE_FUNCTION_BEGIN};

	if (is_traced_now(&rec)) {
		rec.arg = FUNCTION_NUMBER(cookie);
		rec.arg2 = REG_SP(ctx) + FUNCTION_DISTANCE(cookie) * 8;
		rec.stack = native_stack(ctx, (uint32_t)rec.goid);
		send_thread(&rec);
		if (cookie & FUNCTION_ENDS_THERE) {
			rec.site = SITE_FUNCTION_END;
			rec.stack = 0;
			send_thread(&rec);
		}
	}
	return 0;
}

SEC("?uprobe")
int function_end(struct pt_regs *ctx)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	uint32_t condition = FUNCTION_CONDITION(cookie);
	struct raw_record rec = {.site = SITE_FUNCTION_END};

	if ((!condition || is_taken(REG_FLAGS(ctx), condition - 1)) && is_traced_now(&rec)) {
		rec.arg = FUNCTION_NUMBER(cookie);
		rec.arg2 = REG_SP(ctx) + FUNCTION_DISTANCE(cookie) * 8;
		send_thread(&rec);
	}
	return 0;
}

#endif
