/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls of the functions that --region and --task name: probes where a call
 * begins, and at every instruction that may end it. Not at the return address,
 * as return probes are: who walks a stack would find the kernel's there, and an
 * exception could not be thrown past it.
 */
#ifndef GOTRACE_FUNCTIONS_BPF_H
#define GOTRACE_FUNCTIONS_BPF_H

#include "bpf/thread.bpf.h"

#if defined(__TARGET_ARCH_arm64)

/* Whether b.cond is about to branch (Arm ARM, C1.2.4). */
static __always_inline bool is_taken(uint64_t flags, uint32_t code)
{
	bool negative = flags >> 31 & 1, zero = flags >> 30 & 1, carry = flags >> 29 & 1,
	     overflow = flags >> 28 & 1, holds;

	switch (code >> 1) {
	case 0:
		holds = zero;
		break;
	case 1:
		holds = carry;
		break;
	case 2:
		holds = negative;
		break;
	case 3:
		holds = overflow;
		break;
	case 4:
		holds = carry && !zero;
		break;
	case 5:
		holds = negative == overflow;
		break;
	case 6:
		holds = negative == overflow && !zero;
		break;
	default:
		return true;
	}
	return holds != (code & 1);
}

#else

/* Whether a conditional jump is about to be taken (Intel SDM volume 1, appendix B). */
static __always_inline bool is_taken(uint64_t flags, uint32_t code)
{
	bool carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1, sign = flags >> 7 & 1,
	     overflow = flags >> 11 & 1, holds;

	switch (code >> 1) {
	case 0:
		holds = overflow;
		break;
	case 1:
		holds = carry;
		break;
	case 2:
		holds = zero;
		break;
	case 3:
		holds = carry || zero;
		break;
	case 4:
		holds = sign;
		break;
	case 5:
		holds = parity;
		break;
	case 6:
		holds = sign != overflow;
		break;
	default:
		holds = zero || sign != overflow;
	}
	return holds != (code & 1);
}

#endif

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
