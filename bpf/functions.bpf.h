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

/*
 * Set by capture before loading. From Linux 6.18 on a program may change the
 * registers, and the kernel then leaves the probed instruction out. So ret and
 * endbr64 are done here, which the kernel would else run in a single step: two
 * more traps, ten times the price of all the rest (no constant: then the
 * verifier of an older kernel does not see the code).
 */
const volatile bool can_step;

#define USER_END     (1ull << 47)
#define SHADOW_STACK 1u /* ARCH_SHSTK_SHSTK: arch/x86/include/uapi/asm/prctl.h */

/* With a shadow stack (Linux 6.6, glibc 2.39, if the user asks for it) the kernel has to see the return. */
static __always_inline bool has_shadow_stack(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return bpf_core_field_exists(task->thread.features) && task->thread.features & SHADOW_STACK;
}

/* Does what the instruction does. If it cannot, nothing has happened, and the kernel does it. */
static __always_inline void step(struct pt_regs *ctx, uint64_t cookie)
{
	uint64_t sp = ctx->sp, to = 0;

	/* Another program (a second gotrace) may have done it. */
	if (!can_step || (ctx->ip & ((1u << FUNCTION_PAGE_BITS) - 1)) != FUNCTION_PAGE_AT(cookie))
		return;
	if (FUNCTION_STEP(cookie) == FUNCTION_ENDBR) {
		ctx->ip = ctx->ip + 4;
		return;
	}
	if (FUNCTION_STEP(cookie) != FUNCTION_RET || has_shadow_stack() ||
	    bpf_probe_read_user(&to, sizeof(to), (const void *)sp) || to >= USER_END)
		return;
	ctx->sp = sp + sizeof(to);
	ctx->ip = to;
}

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
		rec.arg2 = ctx->sp + FUNCTION_DISTANCE(cookie) * 8;
		rec.stack = native_stack(ctx->ip + 1, ctx->sp, ctx->bp, (uint32_t)rec.goid);
		send_thread(&rec);
		if (cookie & FUNCTION_ENDS_THERE) {
			rec.site = SITE_FUNCTION_END;
			rec.stack = 0;
			send_thread(&rec);
		}
	}
	step(ctx, cookie);
	return 0;
}

SEC("?uprobe")
int function_end(struct pt_regs *ctx)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	uint32_t condition = FUNCTION_CONDITION(cookie);
	struct raw_record rec = {.site = SITE_FUNCTION_END};

	if ((!condition || is_taken(ctx->flags, condition - 1)) && is_traced_now(&rec)) {
		rec.arg = FUNCTION_NUMBER(cookie);
		rec.arg2 = ctx->sp + FUNCTION_DISTANCE(cookie) * 8;
		send_thread(&rec);
	}
	step(ctx, cookie);
	return 0;
}

#endif
