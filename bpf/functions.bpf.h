/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls of the functions named by --region and --task. Probes are placed where a call begins and at every
 * instruction that may end it. Return probes are not used: they replace the return address, so a stack walker
 * would find the kernel's address there, and an exception could not be thrown past it.
 */
#ifndef GOTRACE_FUNCTIONS_BPF_H
#define GOTRACE_FUNCTIONS_BPF_H

#include "bpf/condition.bpf.h"
#include "bpf/return.bpf.h"
#include "bpf/thread.bpf.h"
#include "bpf/values.bpf.h"

static __always_inline bool is_traced_now(struct raw_record *rec)
{
	uint64_t ids = bpf_get_current_pid_tgid();

	rec->tid = (uint32_t)ids;
	rec->goid = ids >> 32;
	return is_traced(ids >> 32);
}

/* Sends the record with the values that the probe reads. */
static __always_inline void send_call(const struct pt_regs *ctx, struct raw_record *rec, uint64_t cookie)
{
	struct raw_record shown;

	if (!reads_values || !FUNCTION_VALUES(cookie)) {
		send_thread(rec);
		return;
	}
	shown = *rec;
	shown.p = bpf_get_smp_processor_id();
	shown.time = bpf_ktime_get_ns();
	if (own_level)
		translate_ids(&shown);
	put_values(ctx, &shown, FUNCTION_VALUES(cookie), rec->arg2);
}

HIT(function_begin)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	struct raw_record rec = {.site = SITE_FUNCTION_BEGIN};

	if (is_traced_now(&rec)) {
		rec.arg = FUNCTION_NUMBER(cookie);
		rec.arg2 = REG_SP(ctx) + FUNCTION_DISTANCE(cookie) * 8;
		rec.stack = native_stack(ctx, (uint32_t)rec.goid);
		send_call(ctx, &rec, cookie);
		if (cookie & FUNCTION_ENDS_THERE) {
			rec.site = SITE_FUNCTION_END;
			rec.stack = 0;
			send_thread(&rec);
		}
	}
}

static __always_inline void end_call(struct pt_regs *ctx, uint64_t cookie)
{
	uint32_t condition = FUNCTION_CONDITION(cookie);
	struct raw_record rec = {.site = SITE_FUNCTION_END};

	if ((condition && !is_taken(REG_FLAGS(ctx), condition - 1)) || !is_traced_now(&rec))
		return;
	rec.arg = FUNCTION_NUMBER(cookie);
	rec.arg2 = caller_sp(ctx, cookie);
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
